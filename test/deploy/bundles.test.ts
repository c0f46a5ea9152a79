import { builtinModules } from 'node:module'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Format } from 'esbuild'
import { rollup } from 'rollup'
import t, { type Test } from 'tap'
import { copyFromPackage, makeApp, outputOf } from './app-folder.js'

/** The recipe of docs/deploy.md, and what is said where a part of it is left out. */
function tried(t: Test, folder: string, file: string): void {
  t.match(outputOf(file), /^NATIVE_LIBRARY: no kernel library at .*copy libptlite\.so/)
  copyFromPackage(/^libptlite\.so$/, folder)
  t.match(outputOf(file), /^NATIVE_LIBRARY: no worker\.cjs in .*copy node_modules\/ptlite\/dist\/\*\.cjs\n/)
  copyFromPackage(/\.cjs$/, folder)
  t.equal(outputOf(file), '1x10 1x10\n')
}

t.test('esbuild', async (t) => {
  const entry = makeApp(t.testdir({}))
  for (const format of ['esm', 'cjs'] satisfies Format[]) {
    const folder = join(realpathSync(t.testdirName), format)
    const outfile = join(folder, format === 'esm' ? 'app.mjs' : 'app.cjs')
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format, outfile, logLevel: 'silent' })
    tried(t, folder, outfile)
  }
})

t.test('rollup', async (t) => {
  const entry = makeApp(t.testdir({}))
  const folder = join(realpathSync(t.testdirName), 'out')
  mkdirSync(folder)
  const whole = join(t.testdirName, 'node_modules/ptlite/dist/whole.js')
  const bundle = await rollup({
    input: entry,
    external: [...builtinModules, /^node:/],
    plugins: [{ name: 'resolve', resolveId: (name) => (name === 'ptlite' ? realpathSync(whole) : null) }],
  })
  await bundle.write({ file: join(folder, 'app.mjs'), format: 'es' })
  tried(t, folder, join(folder, 'app.mjs'))
})
