import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { passesFor } from '../../compiler/passes/pipeline.js'
import { HOST } from './pass-checks.js'

const here = fileURLToPath(new URL('../../test/compiler/', import.meta.url))
const pipeline = readFileSync(fileURLToPath(new URL('../../compiler/passes/pipeline.ts', import.meta.url)), 'utf8')

t.test('every pass has tests', (t) => {
  const passes = [...pipeline.matchAll(/'\.\/((?:canonical|fuse|lower)\/[^']*)\.js'/g)].map(
    ([, file]) => `../../compiler/passes/${file!}.js`,
  )
  const names = new Set(passesFor(HOST).map(({ name }) => name))
  t.equal(passes.length, names.size, 'a file for each pass')
  const tests = readdirSync(here)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(`${here}${name}`, 'utf8'))
  t.strictSame(
    passes.filter((file) => !tests.some((text) => text.includes(`'${file}'`))),
    [],
  )
  t.end()
})
