/** How the page is built: into files without any address of their own, so that they work below any path. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

export default defineConfig({
  base: './',
  plugins: [react(), packageList()],
  resolve: {
    alias: {
      '#filters': lib('filters/index.ts'),
      '#definitions/names': lib('definitions/names.ts'),
      '#authentication/schemes': lib('authentication/schemes.ts'),
    },
  },
  build: {
    outDir: fileURLToPath(new URL('../../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    // Says which file needs which: what the first page costs is computed from it.
    manifest: 'manifest.json',
    target: 'es2022',
    // Data URLs would need more of the page's policy than files do.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
  },
});

/** Writes whose code the page holds, for the notices of whoever ships it: folders, as seen from the root. */
function packageList(): Plugin {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const folder = /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
  return {
    name: 'package-list',
    generateBundle(_options, bundle) {
      const ids = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
      const folders = ids.flatMap((id) => folder.exec(id)?.[1] ?? []).filter((path) => path.startsWith(root));
      const source = JSON.stringify([...new Set(folders)].map((path) => path.slice(root.length)).sort());
      this.emitFile({ type: 'asset', fileName: 'packages.json', source });
    },
  };
}

/** A door of the pure libraries, which run in the page as they are. */
function lib(door: string): string {
  return fileURLToPath(new URL(`../../libs/${door}`, import.meta.url));
}
