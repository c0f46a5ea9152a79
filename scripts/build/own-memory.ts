// Makes kernels for browsers ask for memory of one thread.
//   tsx scripts/build/own-memory.ts LINKED FILE
import { readFileSync, writeFileSync } from 'node:fs'
import { withOwnMemory } from '../../runtime/native/wasm/threads/shared-import.js'

const [linked, file] = process.argv.slice(2)
if (linked === undefined || file === undefined) throw new Error('own-memory LINKED FILE')
writeFileSync(file, withOwnMemory(readFileSync(linked)))
