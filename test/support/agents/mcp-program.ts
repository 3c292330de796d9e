/**
 * The tiny MCP server as a program on standard input and output; writes its process id into the file that MCP_PID_FILE
 * names.
 */
import { writeFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { makeMcpServer } from './mcp-tools.ts';

const pidFile = process.env['MCP_PID_FILE'];
if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid));
process.stderr.write('this server talks on stderr\n');
await makeMcpServer().connect(new StdioServerTransport());
