/**
 * Bundles the package's own files into dist/: what is imported, the command, the files of threads, the page, and the client, which browsers take, too.
 * `--types`: declarations, too.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licensesOfPackages, packagesOf } from '../scripts/build/package-licenses.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
// gRPC is in the bundle: a package below it runs a script when it is installed, which pnpm refuses
const { dependencies, peerDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const installed = Object.keys({ ...dependencies, ...peerDependencies })
// what is CommonJS in it asks for Node's modules
const banner = "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);"
const common = { absWorkingDir: root, bundle: true, format: 'esm', sourcemap: 'linked', sourcesContent: false, logLevel: 'warning' }
const { metafile } = await build({
  ...common,
  entryPoints: ['src/index.ts', 'src/main.ts', 'src/workers/thread.ts', 'src/text/text-thread.ts'],
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  outdir: 'dist',
  splitting: true,
  platform: 'node',
  target: 'node20',
  external: installed,
  banner: { js: banner },
  // protobufjs looks for optional modules by it
  logOverride: { 'direct-eval': 'silent' },
  metafile: true,
})
writeFileSync(`${root}dist/LICENSES.txt`, licensesOfPackages(packagesOf(Object.keys(metafile.inputs)), `${root}node_modules`))
await build({ ...common, entryPoints: ['client/index.ts'], outfile: 'dist/client.js', platform: 'neutral', target: 'es2022' })
cpSync(`${root}page`, `${root}dist/page`, { recursive: true })
copyFileSync(`${root}src/grpc/open_inference.proto`, `${root}dist/open_inference.proto`)
if (process.argv.includes('--types')) {
  for (const config of ['tsconfig.types.json', 'client/tsconfig.types.json']) {
    const { status } = spawnSync('npx', ['tsc', '-p', `${root}${config}`], { cwd: root, stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
}
