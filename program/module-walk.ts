import type { ScriptObject, Value } from '../runtime/tensor/value.js'
import { CodeWalk } from './code-walk.js'
import { Opcode } from './generated/opcodes.js'
import { type LinkedFunction, STATE_METHOD } from './linked.js'

/** Goes through all methods that a program's module can be called by, and those that they call. */
export abstract class ModuleWalk<Known> extends CodeWalk<Known> {
  /** Numbers of the slots that some function sets, of whatever class. */
  protected readonly changing = new Set<number>()

  protected constructor(
    functions: readonly LinkedFunction[],
    protected readonly root: ScriptObject,
  ) {
    super(functions)
    for (const { source } of functions)
      for (let at = 0; at < source.code.length; at += 3) if (source.code[at] === Opcode.SET_ATTR) this.changing.add(source.code[at + 1]!)
  }

  /** False where the code is too much to follow. `self`: what is known of the root. */
  protected followMethods(self: Known): boolean {
    const methods = this.functions.filter(({ source }) => !STATE_METHOD.test(source.method))
    for (const fn of methods) if (fn.source.className === this.root.typeName) this.enter(fn, this.root, self)
    this.followAll()
    // of what nobody is seen to call it is not known what it is called on
    for (const fn of methods) if (!this.wasEntered(fn)) this.enter(fn, null, undefined)
    return this.followAll()
  }

  /** Has what an instruction calls on an object followed, or, where that is not known, all that it may call. */
  protected enterCallees({ source }: LinkedFunction, pc: number, object: ScriptObject | null, self: Known | undefined): void {
    const [opcode, x] = [source.code[3 * pc]!, source.code[3 * pc + 1]!]
    if (opcode === Opcode.CALL) this.enter(this.functions[x], object, self)
    if (opcode !== Opcode.INTERFACE_CALL) return
    for (const callee of this.methodsOf(object, source.constants[x])) this.enter(callee, object, self)
  }

  private methodsOf(object: ScriptObject | null, method: Value | undefined): readonly (LinkedFunction | undefined)[] {
    if (object !== null) return [this.methodOf(object, method)]
    return this.functions.filter(({ source }) => source.method === method)
  }
}
