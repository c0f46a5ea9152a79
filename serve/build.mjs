/** Bundles the package's own files into dist/: what is imported, the command, and the file of a worker thread. `--types`: declarations, too. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('.', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: ['src/index.ts', 'src/main.ts', 'src/workers/thread.ts'],
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
})
copyFileSync(`${root}src/grpc/open_inference.proto`, `${root}dist/open_inference.proto`)
if (process.argv.includes('--types')) {
  const { status } = spawnSync('npx', ['tsc', '-p', `${root}tsconfig.types.json`], { cwd: root, stdio: 'inherit' })
  process.exit(status ?? 1)
}
