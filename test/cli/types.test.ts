import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import ts from 'typescript'
import t from 'tap'
import { loadModelFile } from '../../formats/read.js'
import { declarationsOf } from '../../src/cli/declarations.js'
import { fixturePath } from '../module/fixtures.js'
import { ptlite } from './in-process.js'

const folder = t.testdir({})

/** A model of the fixtures of generated text, unpacked. */
function unpacked(name: string): string {
  const path = join(folder, name)
  writeFileSync(path, gunzipSync(readFileSync(new URL(`../fixtures/generation/${name}.gz`, import.meta.url))))
  return path
}

function declared(path: string, name: string): string {
  const file = loadModelFile(path, {}, { onlyLooks: true })
  try {
    return declarationsOf(file, name)
  } finally {
    file.close()
  }
}

t.test('a module of TorchScript: types of its schemas', async (t) => {
  const text = declared(fixturePath('control.ptl'), 'control.ptl')
  t.match(text, '  forward(n: number | bigint, label?: string | null): [(number | bigint)[], Map<string, number | bigint>, string]\n')
  t.match(text, '  count_up(by?: number | bigint): number | bigint\n')
  t.match(text, "import type { TypedModule } from 'ptlite'\n")
})

t.test('a program of torch.export: dtypes and sizes, too', async (t) => {
  const text = declared(unpacked('gpt2-whole.pt2'), 'gpt2-whole.pt2')
  t.match(text, /forward\(input_ids: Tensor<'int64'>\): Tensor<'float32'>/)
  t.match(text, /@returns float32\[1, \w+ .*, 64\]/)
  t.match(text, /@param input_ids \[1, \w+ \(\d+ to \d+\)\]/)
})

t.test('what is written passes the compiler', async (t) => {
  for (const [i, path] of [
    fixturePath('control.ptl'),
    fixturePath('generators.ptl'),
    fixturePath('exotic.ptl'),
    unpacked('llama-past-dict.pt2'),
    unpacked('t5-decoder.pt2'),
  ].entries()) {
    const source = ts.createSourceFile(`${i}.d.ts`, declared(path, 'model'), ts.ScriptTarget.ES2022, true)
    t.same((source as unknown as { parseDiagnostics: unknown[] }).parseDiagnostics, [], path)
  }
})

t.test('the command', async (t) => {
  const output = join(folder, 'model.d.ts')
  t.equal((await ptlite('types', fixturePath('linear.ptl'), '-o', output)).status, 0)
  t.match(readFileSync(output, 'utf8'), '  forward(x: Tensor): Tensor\n')
  t.match((await ptlite('types', fixturePath('linear.ptl'))).stdout, 'export type Model = TypedModule<Methods>\n')
  t.equal((await ptlite('types')).status, 2)
})
