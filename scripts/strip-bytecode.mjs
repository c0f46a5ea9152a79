// Makes TorchScript archives of mobile ones: what is left out are the bytecode and what goes with it; the code that it was made of is in the file already.
//
//   node scripts/strip-bytecode.mjs IN.ptl OUT.pt
//
// Records stay where they are, so that tensors keep their alignment; only the directory at the end of the file is written anew.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const DROPPED = /^[^/]+\/(bytecode\.pkl|bytecode\/.*|mobile_debug_handles\.pkl|callstack_debug_map\.pkl|delegated_backends\.debug_pkl)$/
const DIRECTORY_ENTRY = 0x02014b50
const END_OF_DIRECTORY = 0x06054b50

/** The bytes of a `.ptl` without its bytecode. */
export function stripBytecode(bytes) {
  const file = Buffer.from(bytes)
  let end = file.length - 22
  while (end >= 0 && file.readUInt32LE(end) !== END_OF_DIRECTORY) end--
  if (end < 0) throw new Error('not a zip file')
  const start = file.readUInt32LE(end + 16)
  const kept = []
  for (let at = start; file.readUInt32LE(at) === DIRECTORY_ENTRY;) {
    const nameLength = file.readUInt16LE(at + 28)
    const next = at + 46 + nameLength + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32)
    if (!DROPPED.test(file.toString('utf8', at + 46, at + 46 + nameLength))) kept.push(file.subarray(at, next))
    at = next
  }
  const directory = Buffer.concat(kept)
  const tail = Buffer.from(file.subarray(end, end + 22))
  tail.writeUInt16LE(kept.length, 8)
  tail.writeUInt16LE(kept.length, 10)
  tail.writeUInt32LE(directory.length, 12)
  tail.writeUInt16LE(0, 20)
  return Buffer.concat([file.subarray(0, start), directory, tail])
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [input, output] = process.argv.slice(2)
  if (output === undefined) throw new Error('usage: strip-bytecode.mjs IN.ptl OUT.pt')
  writeFileSync(output, stripBytecode(readFileSync(input)))
}
