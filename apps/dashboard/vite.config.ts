/** How the page is built: into files without any address of their own, so that they work below any path. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  plugins: [react()],
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

/** A door of the pure libraries, which run in the page as they are. */
function lib(door: string): string {
  return fileURLToPath(new URL(`../../libs/${door}`, import.meta.url));
}
