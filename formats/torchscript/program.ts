import type { FunctionCode } from '../../program/code.js'
import { Builder } from './builder.js'
import { CodePlaces } from './debug.js'
import { emitFunction } from './emit.js'
import { Block, type Site } from './graph.js'
import { calledIn, Inliner } from './inline.js'
import { computed } from './known-results.js'
import type { ClassUnit, FunctionUnit, Library } from './library.js'
import { Statements } from './statements.js'

export interface Program {
  readonly functions: readonly FunctionCode[]
  readonly debug: CodePlaces
}

/** Instructions of all functions together: far more than any model has. */
const MAX_INSTRUCTIONS = 1 << 22

/**
 * Compiles what a module runs: the methods of its class, `__setstate__` of the classes of its objects, and what calls of interfaces and calls that are not
 * written out lead to. `classes` are those of the objects that the module holds.
 */
export function compileProgram(library: Library, root: ClassUnit, classes: readonly ClassUnit[]): Program {
  return new ProgramCompiler(library, classes).compile(root)
}

class ProgramCompiler {
  private readonly inliner: Inliner
  /** Functions in the order of their numbers; their code comes when it is their turn. */
  private readonly units: FunctionUnit[] = []
  private readonly numbers = new Map<FunctionUnit, number>()
  /** Classes that objects may be of, and methods that interfaces ask them for. */
  private readonly classes: Set<ClassUnit>
  private readonly asked = new Set<string>()

  constructor(
    private readonly library: Library,
    classes: readonly ClassUnit[],
  ) {
    this.classes = new Set(classes)
    this.inliner = new Inliner(
      (unit) => {
        const builder = new Builder(library, unit, new Block())
        new Statements(builder).writeBody()
        return builder
      },
      (entry, inputs) => {
        const result = computed(entry, inputs)
        if (result !== undefined) library.noted(entry, true)
        return result
      },
      (count) => library.spend(count),
    )
  }

  compile(root: ClassUnit): Program {
    const add = (unit: FunctionUnit | undefined): void => void (unit === undefined || this.numberOf(unit))
    for (const method of root.methods.keys()) {
      // what writes a file is not run by what reads one
      if (method !== '__getstate__') add(this.library.findMethod(root, method))
    }
    for (const unit of this.classes) add(this.library.findMethod(unit, '__setstate__'))
    const functions: FunctionCode[] = []
    const sites = new Map<string, readonly Site[]>()
    let instructions = 0
    // there may be more of them at the end of each round
    for (let i = 0; i < this.units.length; i++) {
      const { block } = this.inliner.inlined(this.units[i]!)
      for (const callee of calledIn(block)) this.numberOf(callee)
      this.answerInterfaces(block)
    }
    for (const unit of this.units) {
      const { block } = this.inliner.inlined(unit)
      const emitted = emitFunction(unit, block, this.library.operatorVersion, (callee) => this.numberOf(callee))
      instructions += emitted.sites.length
      if (instructions > MAX_INSTRUCTIONS)
        throw unit.source.wrong(unit.syntax.at, `a program of more than ${MAX_INSTRUCTIONS} instructions`)
      functions.push(emitted.code)
      sites.set(unit.name, emitted.sites)
    }
    return { functions, debug: new CodePlaces(sites) }
  }

  private numberOf(unit: FunctionUnit): number {
    let number = this.numbers.get(unit)
    if (number === undefined) this.numbers.set(unit, (number = this.units.push(unit) - 1))
    return number
  }

  /** Adds the methods that a call of an interface may lead to: those of this name of any class that there are objects of. */
  private answerInterfaces(body: Block): void {
    const pending = [body]
    for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
      for (const { action, blocks } of block.nodes) {
        pending.push(...blocks)
        if (action.kind === 'method' && !this.asked.has(action.name)) {
          this.asked.add(action.name)
          for (const unit of this.classes) this.addMethod(unit, action.name)
        }
        const made = action.kind === 'CREATE_OBJECT' ? this.library.findClass(action.type) : undefined
        if (made !== undefined && !this.classes.has(made)) {
          this.classes.add(made)
          for (const method of this.asked) this.addMethod(made, method)
        }
      }
    }
  }

  private addMethod(unit: ClassUnit, name: string): void {
    const method = this.library.findMethod(unit, name)
    if (method !== undefined) this.numberOf(method)
  }
}
