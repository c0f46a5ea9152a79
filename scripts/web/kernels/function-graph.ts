import { KIND, type LinkedModule, RELOCATION, SECTION } from './linked-module.js'
import { Reader } from './reader.js'

const CALL = 0x10
const END = 0x0b
/** What the linker writes itself has no relocations: a call of each function that has to run at first, and nothing else. */
const CONSTRUCTORS = '__wasm_call_ctors'

/** What functions of a module call, or take the address of: directly, and in data that they name. Functions have the numbers that imports begin. */
export class FunctionGraph {
  readonly imported: number
  private readonly dataFunctions = new Map<string, number[]>()

  constructor(private readonly module: LinkedModule) {
    this.imported = module.imports.filter(({ kind }) => kind === KIND.function).length
    this.readData()
  }

  /** All functions that these come to, themselves included; what is cut leads nowhere. */
  reachable(from: Iterable<number>, isCut: (index: number) => boolean = () => false): Set<number> {
    const seen = new Set<number>()
    const waiting = [...from]
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (seen.has(index) || isCut(index)) continue
      seen.add(index)
      waiting.push(...this.next(index))
    }
    return seen
  }

  /** Functions that others than the module's own call. */
  roots(): number[] {
    const exported = this.module.exports.filter(({ kind }) => kind === KIND.function).map(({ index }) => index)
    const start = this.module.sections.get(SECTION.start)
    return [...exported, ...(start === undefined ? [] : [new Reader(start).number()])]
  }

  isConstructors(index: number): boolean {
    return this.module.functionNames.get(index) === CONSTRUCTORS
  }

  /** Functions that run before everything else. */
  constructors(): number[] {
    const index = [...this.module.functionNames].find(([, name]) => name === CONSTRUCTORS)![0]
    return constructorsIn(this.module, this.module.bodies[index - this.imported]!)
  }

  private next(index: number): readonly number[] {
    const body = this.module.bodies[index - this.imported]
    if (body === undefined) return []
    if (this.isConstructors(index)) return this.constructors()
    return body.relocations.flatMap(({ type, index: symbol }): readonly number[] => {
      if (type === RELOCATION.typeIndex || type === RELOCATION.globalIndex || type === RELOCATION.tableNumber) return []
      const named = this.module.symbols[symbol]!
      if (named.kind === 'function') return [named.index]
      return named.kind === 'data' ? (this.dataFunctions.get(keyOf(named.segment, named.offset)) ?? []) : []
    })
  }

  /** Which data with a name has addresses of functions, or of other data that has some. */
  private readData(): void {
    const { symbols, segments, dataRelocations } = this.module
    const data = symbols.flatMap((symbol) =>
      symbol.kind === 'data' && segments[symbol.segment] !== undefined
        ? [{ ...symbol, start: segments[symbol.segment]! + symbol.offset }]
        : [],
    )
    for (const { type, at, index } of dataRelocations) {
      const holders = data.filter(({ start, size }) => at >= start && at < start + size)
      if (holders.length === 0) throw new Error(`the data at ${at} has no name`)
      const target = symbols[index]!
      if (type !== RELOCATION.tableWord || target.kind !== 'function') continue
      for (const { segment, offset } of holders) {
        const key = keyOf(segment, offset)
        this.dataFunctions.set(key, [...(this.dataFunctions.get(key) ?? []), target.index])
      }
    }
  }
}

const keyOf = (segment: number, offset: number): string => `${segment}+${offset}`

function constructorsIn({ sections }: LinkedModule, { start, end }: { readonly start: number; readonly end: number }): number[] {
  const reader = new Reader(sections.get(SECTION.code)!, start, end)
  if (reader.number() !== 0) throw new Error(`${CONSTRUCTORS} has locals`)
  const called = []
  for (let byte = reader.byte(); byte !== END; byte = reader.byte()) {
    if (byte !== CALL) throw new Error(`${CONSTRUCTORS} does something else than calls`)
    called.push(reader.number())
  }
  return called
}
