import { createHash } from 'node:crypto'
import { Bytes } from '../../../runtime/native/wasm/emit/bytes.js'
import { foldFunctions } from './fold.js'
import { FunctionGraph } from './function-graph.js'
import { type Body, KIND, type LinkedModule, RELOCATION, SECTION } from './linked-module.js'
import { Reader } from './reader.js'

/** What both files say of themselves: eight bytes that are those of no other pair, and in the first one a bit for each kernel that is in the other. */
export const DIVISION = 'ptlite.division'

/** Instructions. */
const CODE = { end: 0x0b, call: 0x10, callIndirect: 0x11, localGet: 0x20, int32: 0x41 } as const
/** References to functions, as elements of tables. */
const FUNCTIONS = 0x70

export interface DivisionOptions {
  /** Whether a function, and what nothing else comes to, goes to the second file. */
  readonly isCut: (name: string) => boolean
  /** Kernels in the order of their numbers, and how their functions are called. */
  readonly kernels: readonly string[]
  readonly entryOf: (kernel: string) => string
  /** What a kernel of the second file returns where that is not there. */
  readonly missing: number
}

/**
 * Divides a module in two. Functions of the second one stand in the first one's table, where it finds them once it has been given the exports of the first;
 * calls that go there directly are calls of places in the table.
 */
export function divideModule(module: LinkedModule, options: DivisionOptions): { readonly first: Uint8Array; readonly more: Uint8Array } {
  return new Division(module, options).write()
}

class Division {
  private readonly graph: FunctionGraph
  private readonly imported: number
  private readonly kept: ReadonlySet<number>
  /** Each function by the one that stands for it and for others with the same code. */
  private readonly same: (index: number) => number
  private readonly firstIndices = new Map<number, number>()
  private readonly moreIndices = new Map<number, number>()
  /** Functions of the second file that the first one calls, with their places in the table. */
  private readonly doors = new Map<number, number>()
  private stub = 0

  constructor(
    private readonly module: LinkedModule,
    private readonly options: DivisionOptions,
  ) {
    this.graph = new FunctionGraph(module)
    this.imported = this.graph.imported
    const cut = new Set([...module.functionNames].filter(([, name]) => options.isCut(name)).map(([index]) => index))
    this.kept = this.graph.reachable(this.graph.roots(), (index) => cut.has(index))
    this.same = foldFunctions(module, this.imported, this.kept)
  }

  write(): { first: Uint8Array; more: Uint8Array } {
    const own = this.module.bodies.map((_, i) => this.imported + i).filter((index) => this.same(index) === index)
    const first = own.filter((index) => this.kept.has(index))
    const more = own.filter((index) => !this.kept.has(index))
    for (let index = 0; index < this.imported; index++) this.firstIndices.set(index, index)
    for (const index of first) this.firstIndices.set(index, this.firstIndices.size)
    this.stub = this.firstIndices.size
    this.addDoors(first)
    const wanted = this.wantedBy(more)
    const globals = this.globalsOf(more)
    for (const index of [...wanted, ...more]) this.moreIndices.set(index, this.moreIndices.size)
    const exported = [...wanted].map((index, i) => ({ name: i.toString(36), kind: KIND.function, index: this.firstIndices.get(index)! }))
    const withGlobals = globals.map((index) => ({ name: `g${index}`, kind: KIND.global, index }))
    const firstBytes = this.firstFile(first, [...exported, ...withGlobals])
    const moreBytes = this.moreFile(more, [...wanted], globals)
    const mark = createHash('sha256').update(firstBytes.finish()).update(moreBytes.finish()).digest().subarray(0, 8)
    return { first: marked(firstBytes, mark, this.kernelBits()), more: marked(moreBytes, mark, []) }
  }

  /** Bit by bit, whether a kernel is in the second file. */
  private kernelBits(): number[] {
    const { kernels, entryOf } = this.options
    const indexOf = new Map([...this.module.functionNames].map(([index, name]) => [name, index]))
    const bits = new Array<number>(Math.ceil(kernels.length / 8)).fill(0)
    kernels.forEach((kernel, i) => {
      const index = indexOf.get(entryOf(kernel))
      if (index === undefined) throw new Error(`the module has no ${entryOf(kernel)}`)
      if (!this.kept.has(index)) bits[i >> 3]! |= 1 << (i & 7)
    })
    return bits
  }

  /** A place in the table for each function of the second file that the first one calls: its own, or a new one. */
  private addDoors(first: readonly number[]): void {
    let places = this.module.elements.length + 1
    for (const index of first)
      for (const called of this.calledBy(index))
        if (!this.kept.has(called) && !this.doors.has(called)) {
          this.doors.set(called, places++)
          this.firstIndices.set(called, this.stub + this.doors.size)
        }
  }

  private calledBy(index: number): number[] {
    return this.bodyOf(index)
      .relocations.filter(({ type }) => type === RELOCATION.functionIndex)
      .map(({ index: symbol }) => this.functionOf(symbol))
  }

  private functionOf(symbol: number): number {
    const named = this.module.symbols[symbol]!
    if (named.kind !== 'function') throw new Error('a call of something that is no function')
    return this.same(named.index)
  }

  private wantedBy(more: readonly number[]): Set<number> {
    const called = more.flatMap((index) => this.calledBy(index))
    return new Set(called.filter((index) => index < this.imported || this.kept.has(index)))
  }

  private globalsOf(more: readonly number[]): number[] {
    const found = new Set<number>()
    for (const index of more)
      for (const { type, at } of this.bodyOf(index).relocations)
        if (type === RELOCATION.globalIndex) found.add(new Reader(this.code, at).number())
    return [...found].sort((a, b) => a - b)
  }

  private firstFile(functions: readonly number[], exports: readonly { name: string; kind: number; index: number }[]): Bytes {
    const { imports, exports: own, elements } = this.module
    const doors = [...this.doors.keys()]
    const typeOfStub = this.typeOf(this.firstEntry())
    const file = header()
    section(file, SECTION.type, (to) => to.all(this.sectionOf(SECTION.type)))
    section(file, SECTION.import, (to) => {
      list(to, imports, ({ module, name, kind, description }) => to.name(module).name(name).byte(kind).all(description))
    })
    section(file, SECTION.function, (to) => {
      list(to, [...functions.map((index) => this.typeOf(index)), typeOfStub, ...doors.map((index) => this.typeOf(index))], (type) =>
        to.unsigned(type),
      )
    })
    const places = elements.length + 1 + doors.length
    // one table of functions without an upper bound
    section(file, SECTION.table, (to) => to.all([1, FUNCTIONS, 0]).unsigned(places))
    section(file, SECTION.global, (to) => to.all(this.sectionOf(SECTION.global)))
    const renumbered = own.map(({ name, kind, index }) => ({
      name,
      kind,
      index: kind === KIND.function ? this.firstIndices.get(this.same(index))! : index,
    }))
    section(file, SECTION.export, (to) => {
      list(to, [...renumbered, ...exports], ({ name, kind, index }) => to.name(name).byte(kind).unsigned(index))
    })
    if (this.module.sections.has(SECTION.start))
      section(file, SECTION.start, (to) =>
        to.unsigned(this.firstIndices.get(this.same(new Reader(this.sectionOf(SECTION.start)).number()))!),
      )
    section(file, SECTION.element, (to) => {
      to.all([1, 0, CODE.int32, 1, CODE.end])
      list(to, elements, (index) => to.unsigned(this.kept.has(index) ? this.firstIndices.get(this.same(index))! : this.stub))
    })
    const count = this.module.sections.get(SECTION.dataCount)
    if (count !== undefined) section(file, SECTION.dataCount, (to) => to.all(count))
    section(file, SECTION.code, (to) => {
      to.unsigned(functions.length + 1 + doors.length)
      for (const index of functions) to.sized((body) => this.writeBody(body, index, this.firstIndices, (global) => global))
      to.sized((body) => body.all([0, CODE.int32]).signed(this.options.missing).byte(CODE.end))
      for (const index of doors) to.sized((body) => this.writeDoor(body, index))
    })
    section(file, SECTION.data, (to) => to.all(this.sectionOf(SECTION.data)))
    return file
  }

  /** Calls the function in the place of the table that has its arguments. */
  private writeDoor(body: Bytes, index: number): void {
    body.byte(0)
    for (let i = 0; i < this.parametersOf(this.typeOf(index)); i++) body.byte(CODE.localGet).unsigned(i)
    body.byte(CODE.int32).signed(this.doors.get(index)!)
    body.byte(CODE.callIndirect).unsigned(this.typeOf(index)).byte(0).byte(CODE.end)
  }

  private moreFile(functions: readonly number[], wanted: readonly number[], globals: readonly number[]): Bytes {
    const file = header()
    const memory = this.module.imports.find(({ kind }) => kind === KIND.memory)!
    section(file, SECTION.type, (to) => to.all(this.sectionOf(SECTION.type)))
    section(file, SECTION.import, (to) => {
      to.unsigned(2 + wanted.length + globals.length)
      to.name(memory.module).name(memory.name).byte(KIND.memory).all(memory.description)
      to.name('first')
        .name('__indirect_function_table')
        .all([KIND.table, FUNCTIONS, 0])
        .unsigned(this.module.elements.length + 1 + this.doors.size)
      wanted.forEach((index, i) => to.name('first').name(i.toString(36)).byte(KIND.function).unsigned(this.typeOf(index)))
      for (const index of globals) to.name('first').name(`g${index}`).byte(KIND.global).all(this.globalType(index))
    })
    section(file, SECTION.function, (to) => {
      list(to, functions, (index) => to.unsigned(this.typeOf(index)))
    })
    const runs = runsOf([...this.places()].sort(([a], [b]) => a - b))
    section(file, SECTION.element, (to) => {
      list(to, runs, ({ place, indices }) => {
        to.all([0, CODE.int32]).signed(place).byte(CODE.end)
        list(to, indices, (index) => to.unsigned(this.moreIndices.get(index)!))
      })
    })
    const globalOf = (index: number): number => globals.indexOf(index)
    section(file, SECTION.code, (to) => {
      to.unsigned(functions.length)
      for (const index of functions) to.sized((body) => this.writeBody(body, index, this.moreIndices, globalOf))
    })
    return file
  }

  /** Functions of the second file by their places in the table. */
  private *places(): Generator<[place: number, index: number]> {
    for (const [i, index] of this.module.elements.entries()) if (!this.kept.has(index)) yield [i + 1, this.same(index)]
    for (const [index, place] of this.doors) yield [place, index]
  }

  /** A body whose numbers take no more bytes than they need. */
  private writeBody(to: Bytes, index: number, indices: ReadonlyMap<number, number>, globalOf: (index: number) => number): void {
    const { start, end, relocations } = this.bodyOf(index)
    const calls = this.graph.isConstructors(index) ? this.graph.constructors() : null
    if (calls !== null) {
      to.byte(0)
      for (const called of calls) to.byte(CODE.call).unsigned(indices.get(this.same(called))!)
      to.byte(CODE.end)
      return
    }
    let at = start
    for (const { type, at: place, index: symbol } of relocations) {
      to.all(this.code.subarray(at, place))
      const reader = new Reader(this.code, place)
      switch (type) {
        case RELOCATION.functionIndex:
          reader.number()
          to.unsigned(indices.get(this.functionOf(symbol))!)
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
    to.all(this.code.subarray(at, end))
  }

  private get code(): Uint8Array {
    return this.sectionOf(SECTION.code)
  }

  private sectionOf(id: number): Uint8Array {
    return this.module.sections.get(id)!
  }

  private bodyOf(index: number): Body {
    return this.module.bodies[index - this.imported]!
  }

  private typeOf(index: number): number {
    if (index >= this.imported) return this.module.types[index - this.imported]!
    const { description } = this.module.imports.filter(({ kind }) => kind === KIND.function)[index]!
    return new Reader(description).number()
  }

  private parametersOf(type: number): number {
    const reader = new Reader(this.sectionOf(SECTION.type))
    return reader.list(() => {
      // func
      reader.byte()
      const parameters = reader.take(reader.number()).length
      reader.take(reader.number())
      return parameters
    })[type]!
  }

  private globalType(index: number): Uint8Array {
    const reader = new Reader(this.sectionOf(SECTION.global))
    return reader.list(() => {
      const type = reader.take(2)
      if (reader.byte() !== CODE.int32) throw new Error('a global that is no number of 32 bits')
      reader.signed()
      if (reader.byte() !== CODE.end) throw new Error('a global that is computed')
      return type
    })[index]!
  }

  /** All functions of kernels have one type. */
  private firstEntry(): number {
    const { kernels, entryOf } = this.options
    const name = entryOf(kernels[0]!)
    return [...this.module.functionNames].find(([, own]) => own === name)![0]
  }
}

function header(): Bytes {
  return new Bytes().all([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
}

function section(to: Bytes, id: number, write: (content: Bytes) => void): void {
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

function marked(file: Bytes, mark: Uint8Array, bits: readonly number[]): Uint8Array {
  section(file, SECTION.custom, (to) => to.name(DIVISION).all(mark).all(bits))
  return file.finish()
}
