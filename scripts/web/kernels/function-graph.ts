import type { LinkedFunctions } from './linked-functions.js'
import { CODE, KIND, type LinkedModule, type LinkedSymbol, RELOCATION, SECTION } from './linked-module.js'
import { Reader } from './reader.js'

/** What the linker writes itself has no relocations: a call of each function that has to run at first, and nothing else. */
const CONSTRUCTORS = '__wasm_call_ctors'
/** Relocations in code that stand for no symbol of a function or of data. */
const WITHOUT: ReadonlySet<number> = new Set([RELOCATION.typeIndex, RELOCATION.globalIndex, RELOCATION.tableNumber])

/** What functions of a module call, or take the address of: directly, and in data that they name, or that is named there. */
export class FunctionGraph {
  private readonly module: LinkedModule
  /** Symbols whose addresses are in data, by where that is. */
  private readonly inData: ReadonlyMap<string, readonly LinkedSymbol[]>

  constructor(private readonly functions: LinkedFunctions) {
    this.module = functions.module
    this.inData = symbolsInData(this.module)
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
    const { start, end } = this.functions.body(index)
    const reader = new Reader(this.functions.code, start, end)
    if (reader.number() !== 0) throw new Error(`${CONSTRUCTORS} has locals`)
    const called = []
    for (let byte = reader.byte(); byte !== CODE.end; byte = reader.byte()) {
      if (byte !== CODE.call) throw new Error(`${CONSTRUCTORS} does something else than calls`)
      called.push(reader.number())
    }
    return called
  }

  private next(index: number): readonly number[] {
    if (index < this.functions.imported) return []
    if (this.isConstructors(index)) return this.constructors()
    const named = this.functions.body(index).relocations.filter(({ type }) => !WITHOUT.has(type))
    return this.functionsIn(named.map(({ index: symbol }) => this.module.symbols[symbol]!))
  }

  /** The functions among symbols, and in the data among them. */
  private functionsIn(symbols: readonly LinkedSymbol[]): number[] {
    const found: number[] = []
    const seen = new Set<string>()
    const waiting = [...symbols]
    for (let symbol = waiting.pop(); symbol !== undefined; symbol = waiting.pop()) {
      if (symbol.kind === 'function') found.push(symbol.index)
      if (symbol.kind !== 'data' || seen.has(keyOf(symbol))) continue
      seen.add(keyOf(symbol))
      waiting.push(...(this.inData.get(keyOf(symbol)) ?? []))
    }
    return found
  }
}

function symbolsInData({ symbols, segments, dataRelocations }: LinkedModule): Map<string, LinkedSymbol[]> {
  const found = new Map<string, LinkedSymbol[]>()
  const data = symbols.flatMap((symbol) => {
    const segment = symbol.kind === 'data' ? segments[symbol.segment] : undefined
    return symbol.kind === 'data' && segment !== undefined ? [{ ...symbol, start: segment + symbol.offset }] : []
  })
  for (const { type, at, index } of dataRelocations) {
    if (type !== RELOCATION.tableWord && type !== RELOCATION.addressWord)
      throw new Error(`a relocation of kind ${type} in data is not expected`)
    const holders = data.filter(({ start, size }) => at >= start && at < start + size)
    if (holders.length === 0) throw new Error(`the data at ${at} has no name`)
    for (const holder of holders) found.set(keyOf(holder), [...(found.get(keyOf(holder)) ?? []), symbols[index]!])
  }
  return found
}

const keyOf = ({ segment, offset }: { readonly segment: number; readonly offset: number }): string => `${segment}+${offset}`
