import { Bytes } from '../../../runtime/native/wasm/emit/bytes.js'
import type { Division } from './division.js'
import { CODE, type Import, KIND, RELOCATION, SECTION } from './linked-module.js'
import { Reader } from './reader.js'

/** References to functions, as elements of tables. */
const FUNCTIONS = 0x70

/** Names by which the second file imports functions and globals of the first. */
const functionName = (position: number): string => position.toString(36)
const globalName = (index: number): string => `g${index}`

/** Flag of limits: the memory is shared. */
const SHARED = 2

/**
 * The linker makes code for threads alone with an import of shared memory. It is as good for memory of one thread, which is what most pages have: the files ask
 * for that, and the library changes it back where memory can be shared (runtime/native/wasm/threads/shared-import.ts).
 */
function writeImport(to: Bytes, { module, name, kind, description }: Import): void {
  to.name(module).name(name).byte(kind)
  if (kind !== KIND.memory) to.all(description)
  else to.byte(description[0]! & ~SHARED).all(description.subarray(1))
}

/** The first file. Where functions of the second stand, it has one that returns `missing`, of the type of kernels. */
export function writeFirst(division: Division, missing: number, typeOfKernels: number): Bytes {
  const { module, functions, first, wanted, globals, doors, stub } = division
  const called = [...doors.keys()]
  const file = header()
  section(file, SECTION.type, (to) => to.all(functions.section(SECTION.type)))
  section(file, SECTION.import, (to) => {
    list(to, module.imports, (entry) => writeImport(to, entry))
  })
  section(file, SECTION.function, (to) => {
    const types = [...first.map((index) => functions.type(index)), typeOfKernels, ...called.map((index) => functions.type(index))]
    list(to, types, (type) => to.unsigned(type))
  })
  // one table of functions without an upper bound
  section(file, SECTION.table, (to) => to.all([1, FUNCTIONS, 0]).unsigned(division.places))
  section(file, SECTION.global, (to) => to.all(functions.section(SECTION.global)))
  section(file, SECTION.export, (to) => {
    const own = module.exports.map(({ name, kind, index }) => ({
      name,
      kind,
      index: kind === KIND.function ? division.firstIndex(index) : index,
    }))
    const ofFunctions = wanted.map((index, i) => ({ name: functionName(i), kind: KIND.function, index: division.firstIndex(index) }))
    const ofGlobals = globals.map((index) => ({ name: globalName(index), kind: KIND.global, index }))
    list(to, [...own, ...ofFunctions, ...ofGlobals], ({ name, kind, index }) => to.name(name).byte(kind).unsigned(index))
  })
  const start = module.sections.get(SECTION.start)
  if (start !== undefined) section(file, SECTION.start, (to) => to.unsigned(division.firstIndex(new Reader(start).number())))
  section(file, SECTION.element, (to) => {
    to.all([1, 0, CODE.int32, 1, CODE.end])
    list(to, module.elements, (index) => to.unsigned(division.isKept(index) ? division.firstIndex(index) : stub))
  })
  const count = module.sections.get(SECTION.dataCount)
  if (count !== undefined) section(file, SECTION.dataCount, (to) => to.all(count))
  section(file, SECTION.code, (to) => {
    to.unsigned(first.length + 1 + doors.size)
    for (const index of first) to.sized((body) => writeBody(body, division, index, division.firstIndices, (global) => global))
    to.sized((body) => body.all([0, CODE.int32]).signed(missing).byte(CODE.end))
    for (const index of called) to.sized((body) => writeDoor(body, division, index))
  })
  section(file, SECTION.data, (to) => to.all(functions.section(SECTION.data)))
  return file
}

/** The second file, which puts its functions into the first one's table. */
export function writeMore(division: Division): Bytes {
  const { module, functions, more, wanted, globals, moreIndices } = division
  const memory = module.imports.find(({ kind }) => kind === KIND.memory)!
  const file = header()
  section(file, SECTION.type, (to) => to.all(functions.section(SECTION.type)))
  section(file, SECTION.import, (to) => {
    to.unsigned(2 + wanted.length + globals.length)
    writeImport(to, memory)
    to.name('first').name('__indirect_function_table').all([KIND.table, FUNCTIONS, 0]).unsigned(division.places)
    wanted.forEach((index, i) => to.name('first').name(functionName(i)).byte(KIND.function).unsigned(functions.type(index)))
    for (const index of globals) to.name('first').name(globalName(index)).byte(KIND.global).all(functions.globalType(index))
  })
  section(file, SECTION.function, (to) => {
    list(to, more, (index) => to.unsigned(functions.type(index)))
  })
  section(file, SECTION.element, (to) => {
    list(to, runsOf(division.placed()), ({ place, indices }) => {
      to.all([0, CODE.int32]).signed(place).byte(CODE.end)
      list(to, indices, (index) => to.unsigned(moreIndices.get(index)!))
    })
  })
  section(file, SECTION.code, (to) => {
    to.unsigned(more.length)
    for (const index of more) to.sized((body) => writeBody(body, division, index, moreIndices, (global) => globals.indexOf(global)))
  })
  return file
}

/** Calls the function in the place of the table that has its arguments. */
function writeDoor(body: Bytes, { functions, doors }: Division, index: number): void {
  const type = functions.type(index)
  body.byte(0)
  for (let i = 0; i < functions.parameters(type); i++) body.byte(CODE.localGet).unsigned(i)
  body.byte(CODE.int32).signed(doors.get(index)!)
  body.byte(CODE.callIndirect).unsigned(type).byte(0).byte(CODE.end)
}

/** A body whose numbers take no more bytes than they need. */
function writeBody(
  to: Bytes,
  division: Division,
  index: number,
  indices: ReadonlyMap<number, number>,
  globalOf: (index: number) => number,
): void {
  const { functions, graph } = division
  if (graph.isConstructors(index)) {
    to.byte(0)
    for (const called of graph.constructors()) to.byte(CODE.call).unsigned(indices.get(division.same(called))!)
    to.byte(CODE.end)
    return
  }
  const { code } = functions
  const { start, end, relocations } = functions.body(index)
  let at = start
  for (const { type, at: place, index: symbol } of relocations) {
    to.all(code.subarray(at, place))
    const reader = new Reader(code, place)
    switch (type) {
      case RELOCATION.functionIndex:
        reader.number()
        to.unsigned(indices.get(division.same(functions.named(symbol)))!)
        break
      case RELOCATION.globalIndex:
        to.unsigned(globalOf(reader.number()))
        break
      case RELOCATION.address:
      case RELOCATION.typeIndex:
      case RELOCATION.tableNumber:
        to.unsigned(reader.number())
        break
      case RELOCATION.tableIndex:
      case RELOCATION.signedAddress:
      case RELOCATION.localAddress:
        to.signed(reader.signed())
        break
      default:
        throw new Error(`a relocation of kind ${type} in code is not expected`)
    }
    at = reader.at
  }
  to.all(code.subarray(at, end))
}

function header(): Bytes {
  return new Bytes().all([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
}

export function section(to: Bytes, id: number, write: (content: Bytes) => void): void {
  to.byte(id).sized(write)
}

function list<T>(to: Bytes, items: readonly T[], write: (item: T) => void): void {
  to.unsigned(items.length)
  items.forEach(write)
}

function runsOf(places: readonly (readonly [place: number, index: number])[]): { place: number; indices: number[] }[] {
  const runs: { place: number; indices: number[] }[] = []
  for (const [place, index] of places) {
    const last = runs.at(-1)
    if (last !== undefined && last.place + last.indices.length === place) last.indices.push(index)
    else runs.push({ place, indices: [index] })
  }
  return runs
}
