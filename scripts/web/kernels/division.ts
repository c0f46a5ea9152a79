import { foldFunctions } from './fold.js'
import { FunctionGraph } from './function-graph.js'
import { LinkedFunctions } from './linked-functions.js'
import type { LinkedModule } from './linked-module.js'

/** Which functions of a module go to which file, and the numbers that they have there. */
export class Division {
  readonly functions: LinkedFunctions
  readonly graph: FunctionGraph
  /** Functions with bodies of each file. Those with the same code are there once. */
  readonly first: readonly number[]
  readonly more: readonly number[]
  /** Functions of the second file that the first one calls, with their places in the table. */
  readonly doors = new Map<number, number>()
  /** What the second file imports of the first. */
  readonly wanted: readonly number[]
  readonly globals: readonly number[]
  /** The function that stands in the table for those that have not come. */
  readonly stub: number
  readonly firstIndices = new Map<number, number>()
  readonly moreIndices = new Map<number, number>()
  /** The function that stands for one and for others with the same code. */
  readonly same: (index: number) => number
  private readonly kept: ReadonlySet<number>

  constructor(
    readonly module: LinkedModule,
    /** Whether a function, and what nothing else comes to, goes to the second file. */
    isCut: (name: string) => boolean,
  ) {
    this.functions = new LinkedFunctions(module)
    this.graph = new FunctionGraph(this.functions)
    const { imported } = this.functions
    const cut = new Set([...module.functionNames].filter(([, name]) => isCut(name)).map(([index]) => index))
    this.kept = this.graph.reachable(this.graph.roots(), (index) => cut.has(index))
    this.same = foldFunctions(this.functions, this.kept)
    const own = module.bodies.map((_, i) => imported + i).filter((index) => this.same(index) === index)
    this.first = own.filter((index) => this.isKept(index))
    this.more = own.filter((index) => !this.isKept(index))
    for (let index = 0; index < imported; index++) this.firstIndices.set(index, index)
    for (const index of this.first) this.firstIndices.set(index, this.firstIndices.size)
    this.stub = this.firstIndices.size
    this.addDoors()
    this.wanted = [...new Set(this.more.flatMap((index) => this.called(index)))].filter((index) => index < imported || this.isKept(index))
    this.globals = [...new Set(this.more.flatMap((index) => this.functions.globals(index)))].sort((a, b) => a - b)
    for (const index of [...this.wanted, ...this.more]) this.moreIndices.set(index, this.moreIndices.size)
  }

  /** Places in the table, the one at 0 included, where nothing stands. */
  get places(): number {
    return this.module.elements.length + 1 + this.doors.size
  }

  isKept(index: number): boolean {
    return this.kept.has(index)
  }

  /** The number that a function has in the first file. */
  firstIndex(index: number): number {
    return this.firstIndices.get(this.same(index))!
  }

  /** Functions of the second file by their places in the table, in order. */
  placed(): (readonly [place: number, index: number])[] {
    const own = this.module.elements.map((index, i) => [i + 1, index] as const).filter(([, index]) => !this.isKept(index))
    return [
      ...own.map(([place, index]) => [place, this.same(index)] as const),
      ...[...this.doors].map(([index, place]) => [place, index] as const),
    ]
  }

  /** A place in the table for each function of the second file that the first one calls. */
  private addDoors(): void {
    for (const index of this.first)
      for (const called of this.called(index))
        if (!this.isKept(called) && !this.doors.has(called)) {
          this.doors.set(called, this.places)
          this.firstIndices.set(called, this.stub + this.doors.size)
        }
  }

  private called(index: number): number[] {
    return this.functions.called(index).map((called) => this.same(called))
  }
}
