import * as kernels from '../../runtime/native/generated/kernels.js'
import { allocate, release } from '../../runtime/native/memory.js'

/** Writes `bytes` bytes `from` the start of a block of `size` bytes on, after it was given back where there is a fourth argument. */
const [size, from, bytes, isReleased] = process.argv.slice(2).map(Number)
const block = allocate(size!)
const others = [allocate(size!), allocate(size!)]
if (isReleased === 1) {
  release(block)
  others.push(allocate(size!))
}
console.log(
  block.address % 4096,
  others.every(({ address }) => address !== block.address),
)
kernels.mem_fill({ address: block.address + from!, bytes: bytes!, value: 1 })
console.log('written')
