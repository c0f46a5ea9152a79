import { PtliteError } from '../runtime/error.js'
import type { FunctionCode } from '../program/code.js'
import { lastRowCode, withLastRow } from '../program/last-row.js'
import { linkFunctions } from '../program/link.js'
import { refuseUseless } from '../program/missing.js'
import type { LinkedFunction } from '../program/linked.js'
import type { ProgramInstance } from './run-state.js'
import { runFunction, type RunOptions } from './run.js'
import type { NamedTuples } from '../program/types.js'
import { verifyFunction } from '../program/verifier.js'
import { reachable } from '../program/reach.js'
import { kindOf } from '../runtime/tensor/kind-of.js'
import type { Tensor } from '../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { tensorAttributes } from '../program/attributes.js'
import { setTraining, trainingModes } from '../program/training.js'
import type { Program } from '../program/program.js'
import * as features from '../runtime/features.js'

/** Is told of every module that is loaded or called. */
export interface ModuleObserver {
  /** Functions that are about to run: at load, before any `__setstate__`, and at calls. */
  functions(functions: readonly LinkedFunction[]): void
  /** A module that is whole, at the end of loading and at calls. */
  module(module: ScriptModule): void
}

export let moduleObserver: ModuleObserver | null = null

/** While it is so, calls must be interpreted: a replayed plan does not say what it does. */
export function modulesObserved(): boolean {
  return features.compiler && moduleObserver !== null
}

export function observeModules(other: ModuleObserver | null): void {
  moduleObserver = other
}

/** Bytes that are open already. */
interface OpenFile {
  readonly size: number
  read(offset: number, length: number): Uint8Array
}

export interface ScriptOptions extends RunOptions {
  /** Receives what the model warns about; the console by default. */
  readonly onWarning?: (text: string) => void
  /** true: refuses functions with operators that the build lacks. false: takes them all. Without it those are refused that are of no use. */
  readonly strict?: boolean
}

/** A loaded model: its functions linked and verified, its state, and what keeps both alive. `__setstate__` runs on it while it is being read. */
export class ScriptModule implements ProgramInstance {
  file!: Program
  /** Not there while it is being read. */
  root!: ScriptObject
  functions: readonly LinkedFunction[] = []
  attributeWrites = 0
  /** Counts calls of setTraining. */
  trainingSets = 0
  private training = false
  /** NamedTuples that the file's types define. */
  readonly namedTuples: NamedTuples = new Map()
  private byName: ReadonlyMap<string, LinkedFunction> | undefined
  /** Methods of the root object that were asked for. */
  private readonly methodsByName = new Map<string, LinkedFunction>()
  private readonly lastRows = new Map<LinkedFunction, LinkedFunction | null>()
  private disposed = false
  /** Background runs that are under way. */
  private uses = 0

  constructor(
    readonly options: ScriptOptions,
    /** The path or the bytes it was read from. */
    readonly source: string | Uint8Array | ArrayBuffer | OpenFile,
  ) {}

  /** Links and verifies the functions of its file, before its state is read. */
  link(codes: readonly FunctionCode[], operatorVersion: number): void {
    const functions = (this.functions = linkFunctions(
      codes,
      operatorVersion,
      this.namedTuples,
      features.advice && this.options.strict !== true,
    ))
    for (const fn of functions) verifyFunction(fn, functions)
    if (features.compiler && moduleObserver !== null) moduleObserver.functions(functions)
  }

  /** Fills `object` by running a `__setstate__` of its file on `state`. */
  setState(code: FunctionCode, object: ScriptObject, state: Value): void {
    const fn = this.functions.find((f) => f.source === code)!
    runFunction(fn, [object, state], this, this.options)
  }

  /** What was read is whole. Throws MISSING_OPERATOR where it lacks what it cannot do without. */
  complete(file: Program): void {
    this.hold(file)
    try {
      if (features.advice && this.options.strict === undefined) refuseUseless(this.functions, file.root.typeName)
    } catch (error) {
      file.close()
      throw error
    }
    if (features.compiler && moduleObserver !== null) moduleObserver.module(this)
  }

  /** A module whose functions and state are in memory already, verified and set up by another thread. */
  static ofProgram(file: Program, options: ScriptOptions = {}): ScriptModule {
    const module = new ScriptModule(options, new Uint8Array(0))
    module.hold(file)
    module.functions = linkFunctions(file.functions, file.operatorVersion, module.namedTuples, true)
    return module
  }

  private hold(file: Program): void {
    this.file = file
    this.root = file.root
  }

  /** Gives its functions other code, before any call. */
  replaceCode(functions: readonly FunctionCode[]): void {
    this.file = { ...this.file, functions }
    this.link(functions, this.file.operatorVersion)
  }

  findMethod(className: string, method: string): LinkedFunction | undefined {
    this.byName ??= new Map(this.functions.map((fn) => [fn.source.name, fn]))
    return this.byName.get(`${className}.${method}`)
  }

  createObject(typeName: string): ScriptObject {
    return new ScriptObject(typeName, [], [])
  }

  /** Hands a warning of the model on. */
  warn(text: string): void {
    if (this.options.onWarning !== undefined) this.options.onWarning(text)
    else console.warn(`ptlite: model warns: ${text}`)
  }

  placeText({ source }: LinkedFunction, pc: number): string | undefined {
    return this.file.debug?.stackTraceAt(source.name, pc)
  }

  get isDisposed(): boolean {
    return this.disposed
  }

  /** Methods of the root object. */
  get methods(): LinkedFunction[] {
    return this.functions.filter((fn) => fn.source.className === this.root.typeName)
  }

  /** The method, or UNKNOWN_METHOD naming those there are; INVALID_FILE where the file was changed meanwhile. */
  method(name: string): LinkedFunction {
    this.checkAlive()
    this.file.checkUnchanged?.()
    const fn = this.methodsByName.get(name) ?? this.methods.find(({ source }) => source.method === name)
    if (fn === undefined) {
      const known = this.methods.map((m) => m.source.method).join(', ')
      throw new PtliteError('UNKNOWN_METHOD', `the module has no method ${nameText(name)}; it has ${known === '' ? 'none' : known}`)
    }
    this.methodsByName.set(name, fn)
    return fn
  }

  /**
   * The method with the last row of its result alone, for the compiler; null where there is none, and where the build lacks what it takes. `items`: see
   * `withLastRow`; by default what the schema says.
   */
  lastRow(fn: LinkedFunction, items?: number): LinkedFunction | null {
    // who watches is told of the file's own code
    if (!features.compiler || moduleObserver !== null) return null
    let found = this.lastRows.get(fn)
    if (found !== undefined) return found
    const code = items === undefined ? lastRowCode(fn.source) : withLastRow(fn.source, items)
    const made = code === null ? null : linkFunctions([code], this.file.operatorVersion, this.namedTuples, true)[0]!
    found = made === null || made.operators.some(({ isMissing }, i) => isMissing === true && i >= fn.operators.length) ? null : made
    if (found !== null) verifyFunction(found, this.functions)
    this.lastRows.set(fn, found)
    return found
  }

  /** Calls a method; `args` come without `self` and have been fitted to its schema. */
  call(fn: LinkedFunction, args: readonly Value[], options: RunOptions = {}): Value {
    this.checkAlive()
    if (features.compiler && moduleObserver !== null) {
      moduleObserver.functions(this.functions)
      moduleObserver.module(this)
    }
    return runFunction(fn, [this.root, ...args], this, { ...this.options, ...options })
  }

  attribute(name: string): Value {
    this.checkAlive()
    const index = this.root.names.indexOf(name)
    if (index < 0) {
      throw new PtliteError('UNKNOWN_ATTRIBUTE', `the module has no attribute ${nameText(name)}; it has ${this.root.names.join(', ')}`)
    }
    return this.root.slots[index] ?? null
  }

  /** The root, which what calls have changed is reached from. */
  stateRoot(): ScriptObject {
    this.checkAlive()
    return this.root
  }

  /** Puts the module and its submodules in training mode, or out of it. */
  setTraining(mode: boolean): void {
    this.checkAlive()
    this.training = mode
    this.trainingSets++
    this.repeatTraining()
  }

  /** Does again what setTraining did last, where a run that began before it has written its state back. */
  repeatTraining(): void {
    if (setTraining(this.root, this.training, this.file.plainClasses)) this.attributeWrites++
  }

  /** The modes of the modules, as text: the same for the same ones. */
  get modes(): string {
    return trainingModes(this.root, this.file.plainClasses)
  }

  /** Tensors among the attributes of the root and its submodules, by dotted name. */
  parameters(): Map<string, Tensor> {
    this.checkAlive()
    return new Map(tensorAttributes(this.root))
  }

  /**
   * Gives the module's memory back, or as soon as the last background use ends. Its tensors, and views on them that were returned,
   * are dead from then on.
   */
  dispose(): void {
    if (this.disposed) return
    this.disposed = true
    if (this.uses === 0) this.free()
  }

  /** Another thread starts to use the module's memory. */
  beginUse(): void {
    this.checkAlive()
    this.uses++
  }

  endUse(): void {
    this.uses--
    if (this.uses === 0 && this.disposed) this.free()
  }

  private free(): void {
    for (const t of reachable([this.root, ...this.functions.flatMap((f) => f.source.constants)])) {
      t.release()
      // returned views must not reach into memory that is no longer mapped
      t.storage.free()
    }
    this.file.close()
  }

  private checkAlive(): void {
    if (this.disposed) throw new PtliteError('DISPOSED', 'the module was disposed')
  }
}

/** What callers in JavaScript ask for may be no text. */
function nameText(name: unknown): string {
  return typeof name === 'string' ? `'${name}'` : `of this name (${kindOf(name)})`
}
