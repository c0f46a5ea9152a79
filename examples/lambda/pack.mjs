// node pack.mjs SELECTED OUT.zip: the handler with a selective build in it, the kernel library and the model, as one zip to upload.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32, deflateRawSync } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))
const [selected, out] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'lambda-'))
try {
  const handler = join(folder, 'handler.mjs')
  const bundle = spawnSync(process.execPath, [join(here, '../embed/bundle.mjs'), selected, handler, join(here, 'handler.mjs')], {
    encoding: 'utf8',
  })
  if (bundle.status !== 0) throw new Error(bundle.stderr)
  const files = [
    ['handler.mjs', handler],
    ['libptlite.so', join(selected, 'libptlite.so')],
    ['model.ptl', join(here, '../embed/model.ptl')],
  ]
  writeFileSync(out, zip(files.map(([name, path]) => [name, readFileSync(path)])))
  console.log(`${out}: ${files.length} files, ${statSync(out).size} bytes`)
} finally {
  rmSync(folder, { recursive: true })
}

/** A zip file of (name, bytes). */
function zip(entries) {
  const parts = []
  const directory = []
  let offset = 0
  for (const [name, bytes] of entries) {
    const packed = deflateRawSync(bytes)
    const label = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(0x00210000, 6)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(label.length, 22)
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, label, packed)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((0o100755 << 16) >>> 0, 6)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, label)
    offset += 4 + common.length + label.length + packed.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, index, end])
}
