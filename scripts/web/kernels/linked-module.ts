import { Reader } from './reader.js'

/*
 * A module that wasm-ld wrote with --emit-relocs. Formats: the WebAssembly core specification, "Binary Format", and the tool conventions, "WebAssembly Object
 * File Linking".
 */

/** Numbers of sections, in the order in which they stand. */
export const SECTION = {
  ...{ custom: 0, type: 1, import: 2, function: 3, table: 4, global: 6, export: 7, start: 8, element: 9 },
  ...{ dataCount: 12, code: 10, data: 11 },
} as const
/** Instructions. */
export const CODE = { end: 0x0b, call: 0x10, callIndirect: 0x11, localGet: 0x20, int32: 0x41 } as const
/** Kinds of imports and exports. */
export const KIND = { function: 0, table: 1, memory: 2, global: 3 } as const

/** Kinds of relocations that this has to tell from each other (R_WASM_…). */
export const RELOCATION = {
  functionIndex: 0,
  tableIndex: 1,
  tableWord: 2,
  address: 3,
  signedAddress: 4,
  addressWord: 5,
  typeIndex: 6,
  globalIndex: 7,
  tableNumber: 20,
  localAddress: 21,
} as const
/** Those with a number that is added. */
const WITH_ADDEND: ReadonlySet<number> = new Set([
  RELOCATION.address,
  RELOCATION.signedAddress,
  RELOCATION.addressWord,
  RELOCATION.localAddress,
])

/** A number in code or data that stands for something. */
export interface Relocation {
  readonly type: number
  /** From the start of the section. */
  readonly at: number
  /** The symbol; the type, where `type` says so. */
  readonly index: number
}

/** A function or data with a name; other symbols have neither. */
export type LinkedSymbol =
  | { readonly kind: 'function'; readonly index: number }
  | { readonly kind: 'data'; readonly segment: number; readonly offset: number; readonly size: number }
  | { readonly kind: 'other' }

export interface Import {
  readonly module: string
  readonly name: string
  readonly kind: number
  /** What follows the kind. */
  readonly description: Uint8Array
}

export interface Export {
  readonly name: string
  readonly kind: number
  readonly index: number
}

/** Of a function: its locals and instructions are those bytes of the code section. */
export interface Body {
  readonly start: number
  readonly end: number
  readonly relocations: Relocation[]
}

export interface LinkedModule {
  /** Sections by their number, without custom ones. */
  readonly sections: ReadonlyMap<number, Uint8Array>
  readonly imports: readonly Import[]
  readonly exports: readonly Export[]
  /** Types of the functions that have bodies. */
  readonly types: readonly number[]
  readonly bodies: readonly Body[]
  /** Functions in the table, from place 1 on. */
  readonly elements: readonly number[]
  readonly symbols: readonly LinkedSymbol[]
  readonly dataRelocations: readonly Relocation[]
  /** Where the bytes of each segment begin in the data section. */
  readonly segments: readonly number[]
  readonly functionNames: ReadonlyMap<number, string>
}

/** Throws Error for a module that was linked otherwise. */
export function readLinkedModule(bytes: Uint8Array): LinkedModule {
  const sections = new Map<number, Uint8Array>()
  const custom = new Map<string, Uint8Array>()
  const reader = new Reader(bytes, 8)
  while (reader.at < bytes.length) {
    const id = reader.byte()
    const section = reader.take(reader.number())
    if (id !== SECTION.custom) sections.set(id, section)
    else {
      const inner = new Reader(section)
      const name = inner.text()
      custom.set(name, section.subarray(inner.at))
    }
  }
  const section = (id: number): Reader => new Reader(sections.get(id)!)
  const named = (name: string): Reader => {
    const found = custom.get(name)
    if (found === undefined) throw new Error(`the module has no section ${name}: link it with --emit-relocs`)
    return new Reader(found)
  }
  const types = section(SECTION.function)
  return {
    sections,
    imports: readImports(section(SECTION.import)),
    exports: readExports(section(SECTION.export)),
    types: types.list(() => types.number()),
    bodies: readBodies(section(SECTION.code), readRelocations(named('reloc.CODE'))),
    elements: readElements(section(SECTION.element)),
    symbols: readSymbols(named('linking')),
    dataRelocations: readRelocations(named('reloc.DATA')),
    segments: readSegments(section(SECTION.data)),
    functionNames: readNames(named('name')),
  }
}

function readImports(reader: Reader): Import[] {
  return reader.list(() => {
    const [module, name, kind] = [reader.text(), reader.text(), reader.byte()]
    const start = reader.at
    if (kind === KIND.function) reader.number()
    else if (kind === KIND.memory) for (let more = reader.byte() & 1; more >= 0; more--) reader.number()
    else throw new Error(`the import ${name} is neither a function nor a memory`)
    return { module, name, kind, description: reader.bytes.subarray(start, reader.at) }
  })
}

function readExports(reader: Reader): Export[] {
  return reader.list(() => ({ name: reader.text(), kind: reader.byte(), index: reader.number() }))
}

const FROM_ONE = [CODE.int32, 1, CODE.end]

function readElements(reader: Reader): number[] {
  if (reader.number() !== 1 || reader.byte() !== 0 || !FROM_ONE.every((byte) => reader.byte() === byte))
    throw new Error('the module has another segment of elements than one from place 1 on')
  return reader.list(() => reader.number())
}

function readBodies(reader: Reader, relocations: readonly Relocation[]): Body[] {
  const bodies = reader.list((): Body => {
    const size = reader.number()
    const start = reader.at
    reader.at += size
    return { start, end: reader.at, relocations: [] }
  })
  let i = 0
  for (const relocation of [...relocations].sort((a, b) => a.at - b.at)) {
    while (bodies[i]!.end <= relocation.at) i++
    bodies[i]!.relocations.push(relocation)
  }
  return bodies
}

function readRelocations(reader: Reader): Relocation[] {
  // the section that they are for
  reader.number()
  return reader.list(() => {
    const [type, at, index] = [reader.byte(), reader.number(), reader.number()]
    if (WITH_ADDEND.has(type)) reader.signed()
    else if (!Object.values<number>(RELOCATION).includes(type)) throw new Error(`a relocation of kind ${type} is not expected`)
    return { type, at, index }
  })
}

const SYMBOL_TABLE = 8
const SYMBOL = { function: 0, data: 1, section: 3 } as const
const UNDEFINED = 0x10
const EXPLICIT_NAME = 0x40

function readSymbols(reader: Reader): LinkedSymbol[] {
  // the version
  reader.number()
  while (reader.at < reader.end) {
    const kind = reader.byte()
    const section = reader.take(reader.number())
    if (kind === SYMBOL_TABLE) return symbolTable(new Reader(section))
  }
  throw new Error('the module has no table of symbols')
}

function symbolTable(reader: Reader): LinkedSymbol[] {
  return reader.list((): LinkedSymbol => {
    const kind = reader.byte()
    const flags = reader.number()
    const isUndefined = (flags & UNDEFINED) !== 0
    if (kind === SYMBOL.data) {
      reader.text()
      if (isUndefined) return { kind: 'other' }
      const [segment, offset, size] = [reader.number(), reader.number(), reader.number()]
      return { kind: 'data', segment, offset, size }
    }
    const index = reader.number()
    if (kind !== SYMBOL.section && (!isUndefined || (flags & EXPLICIT_NAME) !== 0)) reader.text()
    return kind === SYMBOL.function ? { kind: 'function', index } : { kind: 'other' }
  })
}

/** Segments of shared memory are passive: the first thread copies them. */
function readSegments(reader: Reader): number[] {
  return reader.list(() => {
    if (reader.number() !== 1) throw new Error('the module has a segment of data that is not passive')
    const size = reader.number()
    const start = reader.at
    reader.at += size
    return start
  })
}

const FUNCTION_NAMES = 1

function readNames(reader: Reader): Map<number, string> {
  while (reader.at < reader.end) {
    const kind = reader.byte()
    const section = new Reader(reader.take(reader.number()))
    if (kind === FUNCTION_NAMES) return new Map(section.list(() => [section.number(), section.text()]))
  }
  throw new Error('the module has no names of functions')
}
