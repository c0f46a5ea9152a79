import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from './support/compile.js'

const text = readFileSync(join(root, 'docs/codegen.md'), 'utf8')
const blocks = [...text.matchAll(/```(?:ts|cpp)\n\/\/ (\S+)\n([^]*?)```/g)]

// numbers of kernels and operators change with every new one
const plain = (code: string): string => code.replace(/launch\(\w+,/g, 'launch(N,').replace(/noteCall\(\w+\)/g, 'noteCall(N)')

await t.test('the generated code that docs/codegen.md shows is what is generated', (t) => {
  t.equal(blocks.length, 8)
  for (const [, file, code] of blocks) t.ok(plain(readFileSync(join(root, file!), 'utf8')).includes(plain(code!)), `${file!}: ${code!}`)
  t.end()
})
