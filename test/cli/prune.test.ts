import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 as reference } from 'node:zlib'
import t from 'tap'
import { openSource } from '../../formats/containers/bytes.js'
import { readDirectory } from '../../formats/containers/zip/directory.js'
import { crc32 } from '../../formats/containers/zip/crc32.js'
import { loadModule } from '../../src/index.js'
import { ptlite } from './in-process.js'

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/models/${name}`, import.meta.url))

interface Layers {
  readonly layers: { name: string; shape: number[]; blocks: number; zeroBlocks: number; error: number }[]
}

for (const name of ['encoder.ptl', 'encoder.ff']) {
  await t.test(`prune ${name}`, async (t) => {
    const output = join(t.testdir({}), name)
    const { status, stdout, stderr } = await ptlite('prune', fixture(name), '--sparsity', '0.5', '-o', output, '--json')
    t.equal(status, 0, stderr)
    const { layers } = JSON.parse(stdout) as Layers
    t.ok(layers.length > 2)
    t.notOk(
      layers.some((l) => /embed|tokens/.test(l.name)),
      'tables are not touched',
    )
    for (const layer of layers) {
      t.equal(layer.zeroBlocks, Math.round(layer.blocks / 2))
      t.ok(layer.error > 0 && layer.error < Math.SQRT1_2, `${layer.name} keeps the larger half`)
    }
    const before = readFileSync(fixture(name))
    const after = readFileSync(output)
    t.equal(after.length, before.length)
    if (name.endsWith('.ptl')) {
      for (const entry of readDirectory(openSource(after))) {
        const start = entry.headerOffset + 30 + after.readUInt16LE(entry.headerOffset + 26) + after.readUInt16LE(entry.headerOffset + 28)
        const stored = after.readUInt32LE(entry.entryOffset + 16)
        if (entry.method === 0) t.equal(stored, crc32(after.subarray(start, start + entry.size)), entry.name)
      }
    }
    const report = JSON.parse((await ptlite('inspect', output, '--json')).stdout) as { parameters: { name: string; zeroBlocks?: number }[] }
    const shares = report.parameters.filter((p) => p.zeroBlocks !== undefined)
    t.equal(shares.length, layers.length)
    t.ok(shares.every((p) => Math.abs(p.zeroBlocks! - 0.5) < 0.03))
    const module = await loadModule(output)
    t.ok(module.methods.length > 0)
    module.dispose()
  })
}

await t.test('what cannot be pruned is said', async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  t.match((await ptlite('prune', fixture('encoder.ptl'), '--sparsity', '2', '-o', output)).stderr, /expected a share from 0 to 1/)
  t.match((await ptlite('prune', fixture('encoder.ptl'), '--sparsity', '0.5')).stderr, /name the file to write/)
  t.match(
    (await ptlite('prune', fixture('encoder.ptl'), '--sparsity', '0.5', '-o', output, '--block', '4x4')).stderr,
    /expected 1x8 or 1x16/,
  )
  t.match(
    (await ptlite('prune', fixture('encoder.ptl'), '--sparsity', '0.5', '-o', output, '--layers', 'nothing')).stderr,
    /no float32 or bfloat16 weight/,
  )
})

await t.test('CRC-32', (t) => {
  t.equal(crc32(Buffer.from('123456789')), 0xcbf43926)
  if (typeof reference === 'function') t.equal(crc32(readFileSync(fixture('encoder.ptl'))), reference(readFileSync(fixture('encoder.ptl'))))
  t.end()
})
