import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import { damaged } from '../../program/file-error.js'
import { pace } from '../../runtime/pace.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { CUSTOM_CLASSES, Device, type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'
import { type Definitions, readDefinitions } from './definitions.js'
import { OperatorSchemas, type Signature } from './schemas.js'
import { SourceFile } from './source.js'
import type { ClassSyntax, Expr, FunctionSyntax, Parameter } from './syntax.js'
import {
  ANY,
  dictOf,
  isTooLarge,
  listOf,
  namedTupleType,
  namedType,
  NONE,
  optionalOf,
  plainType,
  TENSOR,
  tupleOfTypes,
  type Type,
  unionOf,
} from './types.js'

/** A function or method of the program. */
export interface FunctionUnit extends Signature {
  /** Qualified: `__torch__.Net.forward`. */
  readonly name: string
  readonly source: SourceFile
  readonly syntax: FunctionSyntax
  /** The class that it is a method of. */
  readonly owner: ClassUnit | null
}

/** A class of the program. */
export interface ClassUnit {
  readonly name: string
  readonly source: SourceFile
  readonly type: Type
  /** Attributes that objects have, by name, in the order of their slots. */
  readonly attributes: ReadonlyMap<string, { readonly slot: number; readonly type: Type }>
  /** Values that all objects share, and members of an enum. */
  readonly constants: ReadonlyMap<string, Expr>
  readonly methods: ReadonlyMap<string, FunctionSyntax>
  /** Its objects are modules. */
  readonly isModule: boolean
}

/** Operations of the whole program, and values that they take: far more than any model has. */
const MAX_VALUES = 1 << 23
/** Types in types of an annotation. */
const MAX_LEVELS = 40
const PLAIN: ReadonlySet<string> = new Set(
  'Tensor int float bool complex number str Device Stream Generator Any Storage QScheme Capsule list tuple AnyEnumType AnyClassType'.split(
    ' ',
  ),
)
/** Types that are ints in programs. */
const INTS: ReadonlySet<string> = new Set(['Layout', 'ScalarType', 'MemoryFormat'])

/** What the archive's code defines, by qualified names. Files are read when something of them is asked for. */
export class Library {
  readonly schemas = new OperatorSchemas()
  /** Operators that calls were found to mean, by name, and whether they were called to know their result. */
  readonly lookedUp = new Map<string, boolean>()
  private readonly files = new Map<string, Definitions | null>()
  private readonly classes = new Map<string, ClassUnit | null>()
  private readonly functions = new Map<string, FunctionUnit | null>()
  /** Namespaces of functions that were written for the program, by what for. */
  private readonly additions = new Map<string, string | undefined>()
  /** NamedTuples whose fields are being read. */
  private readonly open = new Set<string>()
  private readonly tuples = new WeakMap<Tuple, Type>()
  private left = MAX_VALUES

  constructor(
    /** The file of a path such as `__torch__/torch/nn`, where the archive has one. */
    private readonly readFile: (path: string) => SourceFile | undefined,
    /** What CONSTANTS.cN stands for. */
    private readonly constants: readonly Value[],
    /** The object that a member of an enum is. */
    readonly enumMember: (library: Library, unit: ClassUnit, value: Value) => Value,
    readonly operatorVersion: number,
  ) {}

  /** So many operations and values are about to be made. Throws INVALID_FILE where they are more than any program has. */
  spend(count: number): void {
    pace(16 * count)
    if ((this.left -= count) < 0) throw damaged(`a program of more than ${MAX_VALUES} operations and values`)
  }

  /** Notes that the program was compiled with an operator. */
  noted(entry: OperatorEntry, isCalled = false): OperatorEntry {
    const { qualifiedName } = entry
    if (isCalled || !this.lookedUp.has(qualifiedName)) this.lookedUp.set(qualifiedName, isCalled)
    return entry
  }

  private definitionsOf(namespace: string): Definitions | null {
    let found = this.files.get(namespace)
    if (found === undefined) {
      const source = this.readFile(namespace.replaceAll('.', '/'))
      found = source === undefined ? null : readDefinitions(source)
      this.files.set(namespace, found)
    }
    return found
  }

  /** The namespace of functions whose code `text` writes, once for each `purpose`, as errors name it; undefined where it writes none. */
  written(purpose: string, text: () => ((namespace: string) => string) | undefined): string | undefined {
    if (this.additions.has(purpose)) return this.additions.get(purpose)
    const write = text()
    let namespace: string | undefined
    if (write !== undefined) {
      // none that the archive has
      for (let i = 0; namespace === undefined || this.definitionsOf(namespace) !== null; i++) namespace = `__torch__.written${i}`
      this.files.set(namespace, readDefinitions(new SourceFile(purpose, write(namespace))))
    }
    this.additions.set(purpose, namespace)
    return namespace
  }

  /** The class with this qualified name. */
  findClass(name: string): ClassUnit | undefined {
    let found = this.classes.get(name)
    if (found === undefined) {
      const [namespace, own] = split(name)
      const definitions = namespace === '' ? null : this.definitionsOf(namespace)
      const syntax = definitions?.classes.get(own)
      if (syntax === undefined) this.classes.set(name, (found = null))
      else {
        const unit = new ClassReader(this, name, definitions!.source, syntax)
        this.classes.set(name, (found = unit))
      }
    }
    return found ?? undefined
  }

  /** The function with this qualified name, which is no method. */
  findFunction(name: string): FunctionUnit | undefined {
    let found = this.functions.get(name)
    if (found === undefined) {
      const [namespace, own] = split(name)
      const definitions = namespace === '' ? null : this.definitionsOf(namespace)
      const syntax = definitions?.functions.get(own)
      found = syntax === undefined ? null : new UnitReader(this, name, definitions!.source, syntax, null)
      this.functions.set(name, found)
    }
    return found ?? undefined
  }

  findMethod(owner: ClassUnit, method: string): FunctionUnit | undefined {
    const name = `${owner.name}.${method}`
    let found = this.functions.get(name)
    if (found === undefined) {
      const syntax = owner.methods.get(method)
      if (syntax === undefined) return undefined
      found = new UnitReader(this, name, owner.source, syntax, owner)
      this.functions.set(name, found)
    }
    return found ?? undefined
  }

  /** The type with a qualified name. */
  typeNamed(name: string): Type | undefined {
    return name.startsWith(CUSTOM_CLASSES) ? namedType('custom', name) : this.findClass(name)?.type
  }

  /** The type of a constant, whose elements may be the same ones many times. */
  typeOfTuple(tuple: Tuple, types: () => readonly Type[]): Type {
    let found = this.tuples.get(tuple)
    if (found === undefined) this.tuples.set(tuple, (found = tupleOfTypes(types())))
    return found
  }

  /** NamedTuples in themselves have no type. */
  whileOpen<T>(name: string, read: () => T, fail: () => never): T {
    if (this.open.has(name)) fail()
    this.open.add(name)
    const result = read()
    this.open.delete(name)
    return result
  }

  /** The type that an annotation says. */
  typeOf(expr: Expr, source: SourceFile, level = 0): Type {
    const wrong = (message: string): never => {
      throw source.wrong(expr.at, message)
    }
    if (level > MAX_LEVELS) wrong(`a type is nested more than ${MAX_LEVELS} deep`)
    const type = this.readType(expr, source, level)
    if (type === undefined)
      return wrong(`expected a type, found ${expr.kind === 'name' ? expr.name : (dottedName(expr) ?? 'something else')}`)
    return isTooLarge(type) ? wrong('a type of too many parts') : type
  }

  private readType(expr: Expr, source: SourceFile, level: number): Type | undefined {
    if (expr.kind === 'constant') return expr.value === null ? NONE : undefined
    if (expr.kind === 'subscript') {
      const parts = expr.items.flatMap((item) => (item.kind === 'tuple' ? item.items : [item]))
      const types = (): Type[] => parts.map((part) => this.typeOf(part, source, level + 1))
      return expr.object.kind === 'name' ? parameterized(expr.object.name, types) : undefined
    }
    const name = dottedName(expr)
    if (name === undefined) return undefined
    if (name === 'None' || name === 'NoneType') return NONE
    if (PLAIN.has(name)) return plainType(name)
    return INTS.has(name) ? plainType('int') : this.typeNamed(name)
  }

  /** The value of an expression that has one without running anything: a default, a member of an enum. */
  constantOf(expr: Expr, source: SourceFile, level = 0): Value {
    const wrong = (): never => {
      throw source.wrong(expr.at, 'expected a constant')
    }
    if (level > MAX_LEVELS) wrong()
    this.spend(1)
    const inner = (item: Expr): Value => this.constantOf(item, source, level + 1)
    switch (expr.kind) {
      case 'constant':
        return expr.value
      case 'name':
        return expr.name === 'inf' ? new Float(Infinity) : expr.name === 'nan' ? new Float(NaN) : wrong()
      case 'tuple':
        return new Tuple(expr.items.map(inner))
      case 'list':
        return expr.items.map(inner)
      case 'dict':
        return new Map(expr.keys.map((key, i) => [inner(key) as DictKey, inner(expr.values[i]!)]))
      case 'unary': {
        const value = expr.operator === '-' ? inner(expr.operand) : null
        return value instanceof Float ? new Float(-value.value) : wrong()
      }
      case 'call': {
        const callee = dottedName(expr.callee)
        if (callee === 'annotate' && expr.args.length === 2) return inner(expr.args[1]!)
        const text = callee === 'torch.device' ? inner(expr.args[0]!) : null
        return typeof text === 'string' ? new Device(text.split(':')[0]!, text.includes(':') ? Number(text.split(':')[1]) : null) : wrong()
      }
      case 'attribute': {
        const name = dottedName(expr)
        return (name === undefined ? undefined : this.namedConstant(name)) ?? wrong()
      }
      default:
        return wrong()
    }
  }

  /** `CONSTANTS.c0`, or a member of an enum by its qualified name. */
  namedConstant(name: string): Value | undefined {
    const index = /^CONSTANTS\.c(\d{1,9})$/.exec(name)?.[1]
    if (index !== undefined) return this.constants[Number(index)]
    const [className, member] = split(name)
    const unit = className.startsWith('__torch__') ? this.findClass(className) : undefined
    return unit?.type.kind === 'enum' ? this.memberOf(unit, member) : undefined
  }

  /** A member of an enum: an object of its own wherever it is named, as in PyTorch, where `is` tells them apart. Its value is a number or text. */
  memberOf(unit: ClassUnit, member: string): Value | undefined {
    const expr = unit.constants.get(member)
    if (expr === undefined) return undefined
    if (expr.kind !== 'constant' && expr.kind !== 'unary')
      throw unit.source.wrong(expr.at, 'expected a number or text as the value of a member')
    return this.enumMember(this, unit, this.constantOf(expr, unit.source))
  }
}

function parameterized(name: string, types: () => Type[]): Type | undefined {
  switch (name) {
    case 'Final':
      return types()[0]
    case 'List':
      return listOf(types()[0] ?? TENSOR)
    case 'Optional':
      return optionalOf(types()[0] ?? ANY)
    // what is forked runs at once: a future is its value
    case 'Future':
    case 'Await':
      return types()[0] ?? ANY
    case 'Tuple':
      return tupleOfTypes(types())
    case 'Union':
      return unionOf(types())
    case 'Dict': {
      const [key, value] = types()
      return key === undefined || value === undefined ? undefined : dictOf(key, value)
    }
    default:
      return undefined
  }
}

/** `a.b.c` */
export function dottedName(expr: Expr): string | undefined {
  const names: string[] = []
  let next = expr
  for (; next.kind === 'attribute'; next = next.object) names.push(next.name)
  return next.kind === 'name' ? [next.name, ...names.reverse()].join('.') : undefined
}

/** What stands before the last dot, and what behind it. */
function split(name: string): [string, string] {
  const dot = name.lastIndexOf('.')
  return [name.slice(0, Math.max(dot, 0)), name.slice(dot + 1)]
}

/** A function whose annotations are read when they are asked for. */
class UnitReader implements FunctionUnit {
  readonly isVararg = false
  private readArgs: FunctionUnit['args'] | undefined
  private readReturns: FunctionUnit['returns'] | undefined

  constructor(
    private readonly library: Library,
    readonly name: string,
    readonly source: SourceFile,
    readonly syntax: FunctionSyntax,
    readonly owner: ClassUnit | null,
  ) {}

  get args(): FunctionUnit['args'] {
    return (this.readArgs ??= this.syntax.parameters.map((parameter, i) => ({
      name: parameter.name,
      type: this.typeOf(parameter, i),
      listSize: null,
      keywordOnly: parameter.keywordOnly,
      default: parameter.default === null ? undefined : this.library.constantOf(parameter.default, this.source),
    })))
  }

  get returns(): FunctionUnit['returns'] {
    const { returns } = this.syntax
    return (this.readReturns ??= [returns === null ? ANY : this.library.typeOf(returns, this.source)])
  }

  private typeOf({ type }: Parameter, i: number): Type {
    if (type !== null) return this.library.typeOf(type, this.source)
    return i === 0 && this.owner !== null ? this.owner.type : TENSOR
  }
}

/** A class whose annotations are read when they are asked for, since classes name each other. */
class ClassReader implements ClassUnit {
  readonly constants: ReadonlyMap<string, Expr>
  readonly methods: ReadonlyMap<string, FunctionSyntax>
  readonly isModule: boolean
  private readAttributes: ClassUnit['attributes'] | undefined
  private readType: Type | undefined

  constructor(
    private readonly library: Library,
    readonly name: string,
    readonly source: SourceFile,
    private readonly syntax: ClassSyntax,
  ) {
    this.methods = new Map(syntax.methods.map((method) => [method.name, method]))
    this.isModule = syntax.base === 'Module'
    this.constants = new Map(syntax.members.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])))
  }

  get type(): Type {
    return (this.readType ??= this.typeOfKind())
  }

  private typeOfKind(): Type {
    const { base, at } = this.syntax
    switch (base) {
      case 'NamedTuple': {
        const fields = this.syntax.members.filter(({ type }) => type !== null)
        const fail = (): never => {
          throw this.source.wrong(at, `${this.name} contains itself`)
        }
        const types = this.library.whileOpen(this.name, () => fields.map(({ type }) => this.library.typeOf(type!, this.source)), fail)
        return namedTupleType(
          this.name,
          fields.map(({ name }) => name),
          types,
        )
      }
      case 'Enum':
        return namedType('enum', this.name)
      case 'Interface':
      case 'ModuleInterface':
        return namedType('interface', this.name)
      default:
        return namedType('class', this.name)
    }
  }

  get attributes(): ClassUnit['attributes'] {
    if (this.readAttributes === undefined) {
      const attributes = new Map<string, { slot: number; type: Type }>()
      for (const { name, type, value, at } of this.syntax.members) {
        if (type === null || value !== null) continue
        if (attributes.has(name)) throw this.source.wrong(at, `the attribute ${name} is there twice`)
        attributes.set(name, { slot: attributes.size, type: this.library.typeOf(type, this.source) })
      }
      this.readAttributes = attributes
    }
    return this.readAttributes
  }
}
