/**
 * Bundles the package's own files into dist/: what is imported, the command, the files of threads, the page, and the client, which browsers take, too.
 * `--types`: declarations, too.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('.', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
const common = { absWorkingDir: root, bundle: true, format: 'esm', sourcemap: 'linked', sourcesContent: false, logLevel: 'warning' }
await build({
  ...common,
  entryPoints: ['src/index.ts', 'src/main.ts', 'src/workers/thread.ts', 'src/text/text-thread.ts'],
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  outdir: 'dist',
  splitting: true,
  platform: 'node',
  target: 'node20',
  packages: 'external',
})
await build({ ...common, entryPoints: ['client/index.ts'], outfile: 'dist/client.js', platform: 'neutral', target: 'es2022' })
cpSync(`${root}page`, `${root}dist/page`, { recursive: true })
copyFileSync(`${root}src/grpc/open_inference.proto`, `${root}dist/open_inference.proto`)
if (process.argv.includes('--types')) {
  for (const config of ['tsconfig.types.json', 'client/tsconfig.types.json']) {
    const { status } = spawnSync('npx', ['tsc', '-p', `${root}${config}`], { cwd: root, stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
}
