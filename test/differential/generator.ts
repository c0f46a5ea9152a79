import type { Dice } from './dice.js'
import { diceOf } from './dice.js'
import { FAMILIES, STATE } from './families.js'
import { LAYERS, layersProgram } from './layers.js'
import type { Family, StatementKind } from './family.js'
import type {
  Action,
  Attribute,
  Call,
  ClassCode,
  DType,
  Method,
  Parameter,
  Program,
  Spec,
  Statement,
  StorageSpec,
  TensorSpec,
} from './program.js'
import {
  ANY,
  BOOL,
  dictOf,
  type Extent,
  fits,
  FLOAT,
  INT,
  listOf,
  optional,
  ROW,
  SCALAR,
  tupleOf,
  type Type,
  typeText,
  X,
} from './types.js'

/** The last dimension of all tensors of extent `x` and `row`. */
const COLUMNS = 4
const CALLS = 8
const KEYS = ['a', 'b', 'c']
/** Containers in containers in containers. */
const MAX_DEPTH = 3

/** A value that code can name. */
interface Place {
  readonly text: string
  readonly type: Type
  /** Of an element of a list that may be empty, the list. */
  readonly list?: string
  /** A variable that can be assigned again. */
  readonly variable?: boolean
}

interface Known {
  readonly name: string
  readonly attributes: readonly { readonly name: string; readonly type: Type | string }[]
  readonly methods: readonly Method[]
}

/** All that `generate` makes programs of. */
export const FAMILY_NAMES: readonly string[] = [...Object.keys(FAMILIES), LAYERS]

export function generate(family: string, seed: number): Program {
  if (family === LAYERS) return layersProgram(seed)
  const found = FAMILIES[family]
  if (found === undefined) throw new Error(`there is no family ${family}; there are ${FAMILY_NAMES.join(', ')}`)
  return new Generator(found, diceOf(seed, family)).program(family, seed)
}

class Generator {
  private readonly storages: StorageSpec[] = []
  private ids = 0
  /** The last tensor of the state of each extent. */
  private readonly tensorIds: Partial<Record<Extent, number>> = {}
  /** Whether tensors of extent `x` have the same sizes in all calls, so that they can be kept. */
  private readonly isSteady: boolean
  private readonly rows: readonly number[]

  constructor(
    private readonly family: Family,
    private readonly dice: Dice,
  ) {
    this.isSteady = dice.chance(0.5)
    const rows = [1, 2, 3, 5]
    this.rows = this.isSteady ? [dice.pick([1, 3, 3, 3])] : Array.from({ length: dice.between(2, 3) }, () => dice.pick(rows))
  }

  program(family: string, seed: number): Program {
    const { dice } = this
    const classes: ClassCode[] = []
    const known: Known[] = []
    if (this.family.objects) {
      for (let i = dice.between(1, 2); i > 0; i--) this.addClass(`Part${i}`, known, classes)
    }
    this.addClass('M', known, classes)
    const calls = this.calls(classes.at(-1)!)
    return {
      family,
      seed,
      namedTuples: [STATE],
      classes,
      storages: this.storages,
      calls,
      looks: dice.chance(0.5) ? 'always' : 'last',
    }
  }

  private addClass(name: string, known: Known[], classes: ClassCode[]): void {
    const { dice, family } = this
    const isRoot = name === 'M'
    const types: { name: string; type: Type | string }[] = []
    const attributes: Attribute[] = []
    const count = isRoot ? dice.between(1, 4) : dice.between(1, 2)
    for (let i = 0; i < count; i++) {
      const type = dice.pick(family.attributes)
      const attribute = `a${i}`
      const twin = attributes.find(
        (other) => other.type === typeText(type) && typeof other.value === 'object' && other.value !== null && 'id' in other.value,
      )
      const shares = twin !== undefined && dice.chance(family.aliases * 4)
      const value: Spec = shares ? { same: (twin.value as { id: number }).id } : this.state(type)
      types.push({ name: attribute, type })
      attributes.push({ name: attribute, type: typeText(type), value })
    }
    if (known.length > 0) {
      for (const [i, part] of known.entries()) {
        if (!isRoot && dice.chance(0.5)) continue
        const id = this.ids++
        types.push({ name: `part${i}`, type: part.name })
        attributes.push({ name: `part${i}`, type: `__torch__.${part.name}`, value: { object: part.name, id } })
        if (dice.chance(0.25)) {
          types.push({ name: `twin${i}`, type: part.name })
          attributes.push({
            name: `twin${i}`,
            type: `__torch__.${part.name}`,
            value: dice.chance(0.5) ? { same: id } : { object: part.name },
          })
        }
      }
    }
    const own: Known = { name, attributes: types, methods: [] }
    const methods = own.methods as Method[]
    const names = isRoot && dice.chance(0.3) ? ['step', 'forward'] : ['forward']
    for (const method of names) methods.push(new MethodGenerator(family, dice, own, known, this.isSteady).method(method, isRoot))
    known.push(own)
    classes.push({ name, attributes, methods })
  }

  /** A value that an attribute begins with. */
  private state(type: Type): Spec {
    const { dice } = this
    switch (type.kind) {
      case 'Tensor': {
        const known = this.tensorIds[type.extent]
        if (known !== undefined && dice.chance(this.family.aliases)) return { same: known }
        const made = this.tensor(this.sizeOf(type.extent), this.storages, true)
        this.tensorIds[type.extent] = made.id!
        return made
      }
      case 'int':
        return { int: dice.between(-2, 4) }
      case 'float':
        return { float: dice.number() }
      case 'bool':
        return dice.chance(0.5)
      case 'List':
        return { list: Array.from({ length: dice.between(0, 3) }, () => this.state(type.of)), type: typeText(type), id: this.ids++ }
      case 'Dict':
        return {
          dict: KEYS.slice(0, dice.between(2, 3)).map((key) => [key, this.state(type.of)]),
          type: typeText(type),
          id: this.ids++,
        }
      case 'Optional':
        return dice.chance(0.5) ? null : this.state(type.of)
      case 'Tuple':
        return { tuple: type.items.map((item) => this.state(item)) }
      default:
        return { tuple: type.fields.map(([, field]) => this.state(field)) }
    }
  }

  private sizeOf(extent: Extent): number[] {
    const { dice } = this
    switch (extent) {
      case 'x':
        return [this.rows[0]!, COLUMNS]
      case 'row':
        return [COLUMNS]
      case 'scalar':
        return []
      default:
        return this.sizeOf(dice.pick(['x', 'row', 'scalar'] as const))
    }
  }

  private dtype(): DType {
    const { dice, family } = this
    return dice.chance(family.dtypes) ? dice.pick(['float64', 'int64', 'int32', 'bool', 'uint8', 'int16', 'int8'] as const) : 'float32'
  }

  /** A tensor, over memory of its own or a part of what there is. */
  private tensor(shape: readonly number[], storages: StorageSpec[], hasId = false, like?: DType): TensorSpec {
    const { dice, family } = this
    const dtype = like ?? this.dtype()
    const numel = shape.reduce((a, b) => a * b, 1)
    const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1))
    const id = hasId ? { id: this.ids++ } : {}
    // in a file PyTorch reads the memory of each tensor anew
    if (storages !== this.storages && dice.chance(family.aliases)) {
      const old = storages.findIndex((storage) => storage.dtype === dtype && storage.data.length >= numel)
      if (old >= 0) return { storage: old, shape, strides, offset: dice.below(storages[old]!.data.length - numel + 1), ...id }
    }
    const data = Array.from({ length: numel }, () => this.element(dtype))
    const storage = storages.push({ dtype, data }) - 1
    if (shape.length === 2 && dice.chance(family.aliases)) return { storage, shape, strides: [1, shape[0]!], offset: 0, ...id }
    return { storage, shape, strides, offset: 0, ...id }
  }

  private element(dtype: DType): number {
    const { dice } = this
    if (dtype === 'bool') return dice.below(2)
    if (dtype === 'uint8') return dice.below(5)
    return dtype.startsWith('float') ? dice.number() : dice.between(-4, 4)
  }

  private calls(module: ClassCode): Call[] {
    const { dice, family } = this
    // sizes come one after the other, or are all tried before one repeats
    const alternates = dice.chance(0.5)
    const dtypes = [this.dtype(), dice.chance(0.5) ? this.dtype() : undefined]
    const fixed = dice.chance(0.6)
    const numbers = new Map<string, Spec>()
    return Array.from({ length: CALLS }, (_, k): Call => {
      const rows = alternates ? this.rows[k % this.rows.length]! : this.rows[Math.floor((k * this.rows.length) / CALLS)]!
      const method = dice.pick(module.methods)
      const storages: StorageSpec[] = []
      const dtype = dtypes[k % 2] ?? dtypes[0]!
      const args = method.parameters.map(({ name, type }): Spec => {
        const key = `${method.name}.${name}`
        const isNumber = type.kind === 'int' || type.kind === 'bool' || type.kind === 'float'
        if (isNumber && fixed && numbers.has(key)) return numbers.get(key)!
        const value = this.argument(type, rows, storages, dtype, k)
        if (isNumber) numbers.set(key, value)
        return value
      })
      const after: Action[] = []
      const act = (kind: Action['kind'], probability: number): void => {
        if (!dice.chance(probability)) return
        after.push({ kind, of: dice.pick(['result', 'result', 'argument', 'attribute'] as const), tensor: dice.below(4) })
      }
      act('write', family.writes)
      act('dispose', family.disposes)
      return { method: method.name, storages, args, after }
    })
  }

  private argument(type: Type, rows: number, storages: StorageSpec[], dtype: DType, call: number): Spec {
    const { dice } = this
    const again = (of: Type): Spec => this.argument(of, rows, storages, dtype, call)
    switch (type.kind) {
      case 'Tensor': {
        if (call > 0 && type.extent !== 'x' && dice.chance(0.1)) return { earlier: call - 1, tensor: dice.below(3) }
        if (call > 0 && this.isSteady && dice.chance(0.03)) return { earlier: dice.below(call), tensor: dice.below(2) }
        const shape =
          type.extent === 'x' || (type.extent === 'any' && dice.chance(0.5)) ? [rows, COLUMNS] : type.extent === 'scalar' ? [] : [COLUMNS]
        return this.tensor(shape, storages, false, dtype)
      }
      case 'int':
        return { int: dice.between(0, 3) }
      case 'float':
        return { float: dice.number() }
      case 'bool':
        return dice.chance(0.5)
      case 'List':
        return { list: Array.from({ length: dice.between(1, 3) }, () => again(type.of)), type: typeText(type) }
      case 'Dict':
        return { dict: KEYS.slice(0, 2).map((key) => [key, again(type.of)]), type: typeText(type) }
      case 'Optional':
        return dice.chance(0.3) ? null : again(type.of)
      case 'Tuple':
        return { tuple: type.items.map(again) }
      default:
        return { tuple: type.fields.map(([, field]) => again(field)) }
    }
  }
}

/** Writes the body of a method. */
class MethodGenerator {
  private readonly scope: Place[] = []
  private block: Statement[] = []
  private names = 0
  private depth = 0
  private readonly parameters: Parameter[] = []

  constructor(
    private readonly family: Family,
    private readonly dice: Dice,
    private readonly own: Known,
    private readonly known: readonly Known[],
    private readonly isSteady: boolean,
  ) {}

  method(name: string, isRoot: boolean): Method {
    const { dice, family } = this
    this.addParameter('x', X)
    if (isRoot && dice.chance(0.3)) this.addParameter('n', dice.pick([INT, INT, BOOL, FLOAT]))
    if (isRoot && dice.chance(family.containers ? 0.7 : 0.15)) {
      this.addParameter(
        'given',
        dice.pick([listOf(ROW), dictOf(ROW), tupleOf(ROW, ROW), optional(ROW), ROW, X, listOf(listOf(ROW)), STATE]),
      )
    }
    this.statements(isRoot ? dice.between(3, 9) : dice.between(2, 4))
    const results = Array.from({ length: isRoot ? dice.pick([1, 1, 2, 3]) : 1 }, (_, i) =>
      i === 0 ? dice.pick([X, X, ROW, SCALAR]) : this.anyType(),
    )
    const texts = results.map((type) => this.expression(type, 1))
    const isTuple = results.length > 1
    return {
      name,
      parameters: this.parameters,
      returns: isTuple ? tupleOf(...results) : results[0]!,
      body: this.block,
      result: isTuple ? `(${texts.join(', ')})` : texts[0]!,
    }
  }

  private addParameter(name: string, type: Type): void {
    this.parameters.push({ name, type })
    this.scope.push({ text: name, type })
  }

  private emit(text: string): void {
    this.block.push({ kind: 'line', text })
  }

  private define(type: Type, expression: string): string {
    const name = `v${this.names++}`
    this.emit(`${name} = ${expression}`)
    this.scope.push({ text: name, type, variable: true })
    return name
  }

  private within(write: () => void): Statement[] {
    const before = this.block
    const visible = this.scope.length
    this.block = []
    this.depth++
    write()
    this.depth--
    const made = this.block
    this.block = before
    this.scope.length = visible
    return made
  }

  // places

  private get attributes(): { readonly text: string; readonly type: Type }[] {
    const found: { text: string; type: Type }[] = []
    const add = (object: string, of: Known): void => {
      for (const { name, type } of of.attributes) {
        if (typeof type !== 'string') found.push({ text: `${object}.${name}`, type })
        else
          add(
            `${object}.${name}`,
            this.known.find((k) => k.name === type)!,
          )
      }
    }
    add('self', this.own)
    return found
  }

  private places(): Place[] {
    const all: Place[] = []
    const add = (place: Place, depth: number): void => {
      all.push(place)
      if (depth >= MAX_DEPTH) return
      const { text, type } = place
      const inner = place.list === undefined ? {} : { list: place.list }
      switch (type.kind) {
        case 'Tuple':
          type.items.forEach((item, i) => add({ text: `(${text})[${i}]`, type: item, ...inner }, depth + 1))
          return
        case 'NamedTuple':
          for (const [field, of] of type.fields) add({ text: `(${text}).${field}`, type: of, ...inner }, depth + 1)
          return
        case 'Dict':
          for (const key of KEYS.slice(0, 2)) add({ text: `(${text})["${key}"]`, type: type.of, ...inner }, depth + 1)
          return
        case 'List':
          // one guard is enough
          if (place.list === undefined) for (const i of [0, -1]) add({ text: `(${text})[${i}]`, type: type.of, list: text }, depth + 1)
      }
    }
    for (const place of this.scope) add(place, 0)
    for (const attribute of this.attributes) add(attribute, 0)
    return all
  }

  /** The text of a place of this type; behind a guard where it may not be there. */
  private place(type: Type): string | undefined {
    const { dice } = this
    const found = this.places().filter((place) => fits(place.type, type))
    if (found.length === 0) return undefined
    const place = dice.pick(found)
    if (place.list === undefined || dice.chance(0.1)) return place.text
    const value = this.define(type, this.literal(type))
    this.block.push({
      kind: 'if',
      condition: `torch.gt(torch.len(${place.list}), 0)`,
      then: [{ kind: 'line', text: `${value} = ${place.text}` }],
      other: [],
    })
    return value
  }

  private anyType(): Type {
    const { dice } = this
    const places = this.places()
    return dice.chance(0.7) ? dice.pick(places).type : dice.pick([X, ROW, SCALAR, INT])
  }

  // expressions

  /** The shortest value of a type. */
  private literal(type: Type): string {
    const { dice } = this
    switch (type.kind) {
      case 'Tensor':
        switch (type.extent) {
          case 'row':
            return 'torch.sum(x, [0])'
          case 'scalar':
            return 'torch.sum(x)'
          default:
            return dice.pick(['x', 'torch.mul(x, 0.5)'])
        }
      case 'int':
        return `${dice.between(-1, 3)}`
      case 'float':
        return floatText(dice.number())
      case 'bool':
        return dice.chance(0.5) ? 'True' : 'False'
      case 'List':
        return `annotate(${typeText(type)}, [])`
      case 'Dict':
        return `annotate(${typeText(type)}, {${KEYS.slice(0, 2)
          .map((key) => `"${key}": ${this.literal(type.of)}`)
          .join(', ')}})`
      case 'Optional':
        return `annotate(${typeText(type)}, None)`
      case 'Tuple':
        return `(${type.items.map((item) => this.literal(item)).join(', ')})`
      default:
        return `__torch__.${type.name}(${type.fields.map(([, of]) => this.literal(of)).join(', ')})`
    }
  }

  private expression(type: Type, depth = 0): string {
    const { dice } = this
    if (dice.chance(depth > 1 ? 0.75 : 0.35)) {
      const place = this.place(type)
      if (place !== undefined) return place
    }
    if (depth > 2) return this.literal(type)
    const sub = (of: Type): string => this.expression(of, depth + 1)
    switch (type.kind) {
      case 'Tensor':
        return this.tensorExpression(type.extent, depth)
      case 'int':
        return dice.pick([
          () => `torch.add(${sub(INT)}, ${dice.between(1, 2)})`,
          () => `torch.sub(${sub(INT)}, 1)`,
          () => `torch.mul(${sub(INT)}, 2)`,
          () => `torch.remainder(${sub(INT)}, ${dice.between(2, 4)})`,
          () => this.lengthExpression(),
          () => `torch.size(${sub(X)}, 0)`,
          () => this.literal(INT),
        ])()
      case 'float':
        return dice.pick([
          () => `torch.add(${sub(FLOAT)}, ${floatText(dice.number())})`,
          () => `torch.mul(${sub(FLOAT)}, 0.5)`,
          () => `float(${sub(INT)})`,
          () => this.literal(FLOAT),
        ])()
      case 'bool':
        return this.condition()
      case 'List': {
        const element = (): string => sub(type.of)
        const list = (): string => sub(type)
        return dice.pick([
          () => `annotate(${typeText(type)}, [${Array.from({ length: dice.between(1, 3) }, element).join(', ')}])`,
          () => `torch.add(${list()}, annotate(${typeText(type)}, [${element()}]))`,
          () => `torch.add(annotate(${typeText(type)}, [${element()}]), ${list()})`,
          () => `torch.slice(${list()}, ${dice.pick(['1', '-2', '-1', '0, 2', '0, -1', 'None, None, -1'])})`,
          () => `torch.slice(torch.add(${list()}, annotate(${typeText(type)}, [${element()}])), -3)`,
          () => `torch.copy(${list()})`,
          () => this.mappedList(type),
        ])()
      }
      case 'Dict':
        return dice.pick([
          () =>
            `annotate(${typeText(type)}, {${KEYS.slice(0, dice.between(2, 3))
              .map((key) => `"${key}": ${sub(type.of)}`)
              .join(', ')}})`,
          () => `torch.copy(${sub(type)})`,
        ])()
      case 'Optional':
        return dice.chance(0.3) ? `annotate(${typeText(type)}, None)` : `annotate(${typeText(type)}, ${sub(type.of)})`
      case 'Tuple':
        return `(${type.items.map(sub).join(', ')})`
      default:
        return `__torch__.${type.name}(${type.fields.map(([, of]) => sub(of)).join(', ')})`
    }
  }

  private lengthExpression(): string {
    const sized = this.places().filter(({ type, list }) => list === undefined && (type.kind === 'List' || type.kind === 'Dict'))
    return sized.length === 0 ? this.literal(INT) : `torch.len(${this.dice.pick(sized).text})`
  }

  /** A list of what elements of another one become. */
  private mappedList(type: Type & { kind: 'List' | 'Dict' | 'Optional' }): string {
    const old = this.place(type) ?? this.literal(type)
    const source = this.define(type, old)
    const made = this.define(type, `annotate(${typeText(type)}, [])`)
    const body = this.within(() => {
      const element = this.define(type.of, `${source}[i]`)
      this.emit(`d${this.names++} = torch.append(${made}, ${type.of.kind === 'Tensor' ? `torch.mul(${element}, 0.5)` : element})`)
    })
    this.block.push({ kind: 'for', head: `i in range(torch.len(${source}))`, body })
    return made
  }

  private tensorExpression(extent: Extent, depth: number): string {
    const { dice } = this
    const sub = (of: Type): string => this.expression(of, depth + 1)
    if (dice.chance(0.12) && extent !== 'any') {
      const found = this.unwrapped({ kind: 'Tensor', extent })
      if (found !== undefined) return found
    }
    switch (extent) {
      case 'any':
        return dice.pick([
          () => sub(X),
          () => sub(ROW),
          () => `torch.slice(${sub(X)}, 1, ${dice.between(0, 2)}, ${dice.between(3, 4)})`,
          () => `torch.cat([${sub(X)}, ${sub(X)}], ${dice.below(2)})`,
          () => `torch.stack([${sub(ROW)}, ${sub(ROW)}])`,
          () => `torch.t(${sub(X)})`,
        ])()
      case 'scalar':
        return dice.pick([
          () => `torch.sum(${sub(ANY)})`,
          () => `torch.mean(${sub(ANY)})`,
          () => `torch.max(${sub(X)})`,
          () => `torch.select(${sub(ROW)}, 0, ${dice.below(COLUMNS)})`,
          () => this.elementWise(SCALAR, [SCALAR], sub),
          () => `torch.tensor(${sub(dice.pick([FLOAT, FLOAT]))})`,
        ])()
      case 'row':
        return dice.pick([
          () => `torch.sum(${sub(X)}, [0])`,
          () => `torch.mean(${sub(X)}, [0])`,
          () => `torch.select(${sub(X)}, 0, ${dice.pick([0, -1])})`,
          () => this.elementWise(ROW, [ROW, SCALAR], sub),
          () => this.elementWise(ROW, [ROW, SCALAR], sub),
        ])()
      default:
        return this.elementWise(X, [X, ROW, SCALAR], sub)
    }
  }

  private elementWise(type: Type, others: readonly Type[], sub: (of: Type) => string): string {
    const { dice } = this
    return dice.pick([
      () => `torch.${dice.pick(['neg', 'relu', 'abs', 'tanh', 'sigmoid', 'sin', 'clone', 'detach', 'square'])}(${sub(type)})`,
      () => `torch.clamp(${sub(type)}, -4., 4.)`,
      () => `torch.${dice.pick(['add', 'mul', 'sub'])}(${sub(type)}, ${floatText(dice.number())})`,
      () => `torch.${dice.pick(['add', 'mul', 'sub'])}(${sub(type)}, ${sub(dice.pick([INT, FLOAT]))})`,
      () => `torch.${dice.pick(['add', 'sub', 'mul', 'maximum', 'minimum'])}(${sub(type)}, ${sub(dice.pick(others))})`,
      () => `torch.${dice.pick(['add', 'sub', 'mul', 'maximum', 'minimum'])}(${sub(type)}, ${sub(dice.pick(others))})`,
      () => `torch.where(torch.gt(${sub(type)}, ${floatText(dice.number() + 0.0625)}), ${sub(type)}, ${sub(dice.pick(others))})`,
    ])()
  }

  /** What an Optional of this type holds, or something else. */
  private unwrapped(type: Type): string | undefined {
    const found = this.places().filter((place) => place.list === undefined && place.type.kind === 'Optional' && fits(place.type.of, type))
    if (found.length === 0) return undefined
    const place = this.dice.pick(found)
    const held = this.define(place.type, place.text)
    const value = this.define(type, this.literal(type))
    this.block.push({
      kind: 'if',
      condition: `torch.__isnot__(${held}, None)`,
      then: [{ kind: 'line', text: `${value} = unchecked_cast(${typeText(type)}, ${held})` }],
      other: [],
    })
    return value
  }

  private condition(): string {
    const { dice } = this
    const optionals = this.places().filter(({ type, list }) => list === undefined && type.kind === 'Optional')
    // no sum of multiples of 1/8 comes near to it
    const bound = floatText(dice.number() + 0.03125)
    return dice.pick([
      () => `bool(torch.gt(torch.sum(${this.place(ANY) ?? 'x'}), ${bound}))`,
      () => `bool(torch.lt(torch.sum(${this.place(ANY) ?? 'x'}), ${bound}))`,
      () => `torch.gt(float(torch.sum(${this.place(ANY) ?? 'x'})), ${bound})`,
      () => `torch.eq(torch.remainder(int(torch.argmax(${this.place(X) ?? 'x'})), 2), 0)`,
      () => `torch.gt(${this.expression(INT, 2)}, ${dice.between(0, 3)})`,
      () => `torch.eq(torch.remainder(${this.expression(INT, 2)}, 2), 0)`,
      () => `torch.gt(${this.lengthExpression()}, ${dice.between(1, 4)})`,
      () => this.place(BOOL) ?? 'True',
      () => `torch.__not__(${this.place(BOOL) ?? 'False'})`,
      () => (optionals.length === 0 ? 'True' : `torch.__is__(${dice.pick(optionals).text}, None)`),
      () => `torch.gt(torch.size(x, 0), ${dice.between(1, 3)})`,
    ])()
  }

  // statements

  private statements(count: number): void {
    for (let i = 0; i < count; i++) this.statement()
  }

  private statement(): void {
    const kinds = Object.entries(this.family.weights) as [StatementKind, number][]
    const kind = this.dice.weighted(kinds.map(([name, weight]) => [Math.round(weight * 10), name] as const))
    switch (kind) {
      case 'define':
        return this.defineNew()
      case 'assign':
        return this.assign()
      case 'setAttribute':
        return this.setAttribute()
      case 'changeContainer':
        return this.changeContainer()
      case 'writeTensor':
        return this.writeTensor()
      case 'view':
        return this.view()
      case 'if':
        return this.conditional()
      case 'for':
        return this.loop()
      case 'callObject':
        return this.callObject()
      case 'readAll':
        return this.readAll()
      case 'while':
        return this.repeat()
      case 'exit':
        return this.exit()
      case 'index':
        return this.index()
      case 'position':
        return this.position()
      case 'convert':
        return this.convert()
      case 'fail':
        return this.fail()
      case 'readNumber':
        this.define(FLOAT, `float(torch.sum(${this.place(ANY) ?? 'x'}))`)
        return
    }
  }

  private defineNew(): void {
    const type = this.anyType()
    this.define(type, this.expression(type))
  }

  private assign(): void {
    const { dice } = this
    const variables = this.scope.filter(({ variable }) => variable === true)
    if (variables.length === 0) return this.defineNew()
    const { text, type } = dice.pick(variables)
    this.emit(`${text} = ${this.expression(type)}`)
  }

  private setAttribute(): void {
    const { attributes } = this
    if (attributes.length === 0) return
    const { text, type } = this.dice.pick(attributes)
    this.emit(`${text} = ${this.kept(type, this.expression(type))}`)
  }

  /** State that grows with every call is of no use: it soon holds what is no number. */
  private kept(type: Type, text: string): string {
    return type.kind === 'Tensor' && this.dice.chance(0.3) ? `torch.clamp(${text}, -8., 8.)` : text
  }

  private changeContainer(): void {
    const { dice } = this
    const found = this.places().filter(
      ({ type, list }) => (type.kind === 'List' || type.kind === 'Dict') && (list === undefined || dice.chance(0.3)),
    )
    if (found.length === 0) return this.defineNew()
    const { text, type, list } = dice.pick(found) as Place & { readonly type: Type & { kind: 'List' | 'Dict' } }
    const element = this.expression(type.of, 1)
    const lines: string[] = []
    const done = `d${this.names++}`
    const guarded = (condition: string, line: string): void => {
      this.block.push({ kind: 'if', condition, then: [{ kind: 'line', text: line }], other: [] })
    }
    const write = (line: string): void => void lines.push(line)
    const needs = list === undefined ? undefined : `torch.gt(torch.len(${list}), 0)`
    if (type.kind === 'Dict') {
      dice.pick([
        () => write(`${done} = torch._set_item(${text}, "${dice.pick(KEYS)}", ${element})`),
        () => write(`${done} = torch._set_item(${text}, "${dice.pick(KEYS)}", ${element})`),
        () => guarded(needs ?? `torch.__contains__(${text}, "c")`, `torch.Delete(${text}, "c")`),
      ])()
    } else {
      const isFilled = `torch.gt(torch.len(${text}), ${dice.between(1, 3)})`
      dice.pick([
        () => write(`${done} = torch.append(${text}, ${element})`),
        () => write(`${done} = torch.append(${text}, ${element})`),
        () => guarded(needs ?? isFilled, `${done} = torch._set_item(${text}, ${dice.pick(['0', '1', '-1'])}, ${element})`),
        () => guarded(needs ?? isFilled, `${done} = torch.pop(${text}${dice.pick(['', ', 0'])})`),
        () => write(`torch.insert(${text}, 0, ${element})`),
        () => write(`torch.extend(${text}, annotate(${typeText(type)}, [${element}]))`),
        () => guarded(needs ?? `torch.gt(torch.len(${text}), 3)`, `torch.clear(${text})`),
        () => write(`torch.reverse(${text})`),
      ])()
    }
    for (const line of lines) {
      if (needs === undefined) this.emit(line)
      else guarded(needs, line)
    }
  }

  private tensorPlace(): { text: string; extent: Extent } {
    const { dice } = this
    const extent = dice.pick(['x', 'row', 'row', 'scalar', 'any'] as const)
    return { text: this.place({ kind: 'Tensor', extent }) ?? 'x', extent: extent === 'x' ? 'x' : extent }
  }

  private writeTensor(): void {
    const { dice } = this
    const { text, extent } = this.tensorPlace()
    const operand = (): string => {
      const types = extent === 'x' ? [X, ROW, SCALAR] : extent === 'row' ? [ROW, SCALAR] : [SCALAR]
      return this.expression(dice.pick(types), 1)
    }
    const line = dice.pick([
      () => `torch.add_(${text}, ${operand()})`,
      () => `torch.add_(${text}, ${floatText(dice.number())})`,
      () => `torch.mul_(${text}, ${dice.pick(['0.5', '-0.5', operand()])})`,
      () => `torch.copy_(${text}, ${operand()})`,
      () => `torch.sub_(${text}, ${operand()})`,
      () => `torch.zero_(${text})`,
      () => `torch.fill_(${text}, ${floatText(dice.number())})`,
      () => `torch.clamp_(${text}, -4., 4.)`,
      () => `torch.${dice.pick(['neg_', 'relu_', 'abs_', 'tanh_'])}(${text})`,
    ])()
    this.define({ kind: 'Tensor', extent }, line)
  }

  /** A view, which may be written to later. */
  private view(): void {
    const { dice } = this
    const x = this.place(X) ?? 'x'
    const row = this.place(ROW) ?? 'torch.select(x, 0, 0)'
    dice.pick([
      () => this.define(ROW, `torch.select(${x}, 0, ${dice.pick([0, -1])})`),
      () => this.define(SCALAR, `torch.select(${row}, 0, ${dice.below(COLUMNS)})`),
      () => this.define(ANY, `torch.slice(${row}, 0, ${dice.between(0, 2)}, ${dice.between(2, 4)})`),
      () => this.define(ANY, `torch.slice(${x}, ${dice.below(2)}, ${dice.below(2)}, 9223372036854775807, ${dice.between(1, 2)})`),
      () => this.define(ANY, `torch.t(${x})`),
      () => this.define(X, `torch.t(torch.t(${x}))`),
      () => this.define(X, `torch.detach(${x})`),
      () => this.define(ANY, `torch.unsqueeze(${row}, 0)`),
      () => this.define(X, `torch.view(${x}, [-1, ${COLUMNS}])`),
      () => this.define(ANY, `torch.reshape(${x}, [-1])`),
      () => this.define(X, `torch.expand_as(${row}, ${x})`),
    ])()
  }

  private conditional(): void {
    const { dice } = this
    if (this.depth > 2) return this.defineNew()
    const condition = this.condition()
    const then = this.within(() => this.statements(dice.between(1, 3)))
    const other = dice.chance(0.5) ? this.within(() => this.statements(dice.between(1, 2))) : []
    this.block.push({ kind: 'if', condition, then, other })
  }

  private loop(): void {
    const { dice } = this
    if (this.depth > 1) return this.defineNew()
    const count = dice.pick([`${dice.between(1, 3)}`, `${dice.between(1, 3)}`, `torch.remainder(${this.expression(INT, 2)}, 3)`])
    const index = `i${this.names++}`
    const body = this.within(() => {
      this.scope.push({ text: index, type: INT })
      this.statements(dice.between(1, 3))
    })
    this.block.push({ kind: 'for', head: `${index} in range(${count})`, body })
  }

  /** A loop that ends when its own state says so. */
  private repeat(): void {
    const { dice } = this
    if (this.depth > 1) return this.defineNew()
    const count = this.define(INT, '0')
    const most = `torch.lt(${count}, ${dice.between(1, 4)})`
    const goesOn = this.define(BOOL, dice.pick(['True', most, `torch.__and__(${most}, ${this.condition()})`]))
    // what counts is left alone by the body
    this.scope.forEach(({ text, type }, i) => {
      if (text === count || text === goesOn) this.scope[i] = { text, type }
    })
    const body = this.within(() => {
      this.statements(dice.between(1, 3))
      this.emit(`${count} = torch.add(${count}, 1)`)
      this.emit(`${goesOn} = torch.__and__(${most}, ${dice.chance(0.6) ? this.condition() : 'True'})`)
    })
    this.block.push({ kind: 'while', head: goesOn, body })
  }

  /** A loop that is left with a value, or a result that is decided early: what comes of `break` and of `return` in the middle. */
  private exit(): void {
    const { dice } = this
    if (this.depth > 1) return this.defineNew()
    const type = dice.pick([X, ROW, SCALAR, INT])
    const found = this.define(BOOL, 'False')
    const value = this.define(type, `uninitialized(${typeText(type)})`)
    // it is read only where it was found
    this.scope.length -= 2
    const leave = (): Statement[] =>
      this.within(() => {
        this.emit(`${found} = True`)
        this.emit(`${value} = ${this.expression(type, 1)}`)
      })
    if (dice.chance(0.5)) {
      const index = `i${this.names++}`
      const body = this.within(() => {
        this.scope.push({ text: index, type: INT })
        const rest = this.within(() => {
          this.statements(dice.between(0, 2))
          const condition = this.condition()
          const then = leave()
          this.block.push({ kind: 'if', condition, then, other: this.within(() => this.statements(dice.between(0, 2))) })
        })
        this.block.push({ kind: 'if', condition: found, then: [], other: rest })
      })
      this.block.push({ kind: 'for', head: `${index} in range(${dice.between(1, 4)})`, body })
    } else {
      const condition = this.condition()
      this.block.push({ kind: 'if', condition, then: leave(), other: this.within(() => this.statements(dice.between(0, 2))) })
    }
    const result = this.define(type, this.literal(type))
    const then = this.within(() => this.emit(`${result} = ${value}`))
    const other = this.within(() => {
      this.statements(dice.between(0, 2))
      this.emit(`${result} = ${this.expression(type, 1)}`)
    })
    this.block.push({ kind: 'if', condition: found, then, other })
  }

  private mask(of: string): string {
    return `torch.${this.dice.pick(['gt', 'lt', 'ge'])}(${of}, ${floatText(this.dice.number() + 0.0625)})`
  }

  private index(): void {
    const { dice } = this
    const x = this.place(X) ?? 'x'
    const row = this.place(ROW) ?? 'torch.select(x, 0, 0)'
    const scalar = (): string => this.place(SCALAR) ?? 'torch.sum(x)'
    const optionals = (...items: string[]): string => `annotate(List[Optional[Tensor]], [${items.join(', ')}])`
    const places = (): string =>
      `torch.tensor([${Array.from({ length: dice.between(1, 3) }, () => dice.pick([0, 1, 3, -1, 2])).join(', ')}])`
    const isZero = (): string => this.mask(`torch.sum(${x})`)
    const position = (): string => `torch.remainder(${this.expression(INT, 2)}, ${COLUMNS})`
    const done = `d${this.names++}`
    dice.pick<() => void>([
      () => this.define(ANY, `torch.index(${x}, ${optionals(this.mask(x))})`),
      () => this.define(ANY, `torch.index(${row}, ${optionals(places())})`),
      () => this.define(ANY, `torch.index(${x}, ${optionals('None', places())})`),
      () => this.define(ANY, `torch.index(${x}, ${optionals(isZero())})`),
      () => this.define(ANY, `torch.masked_select(${x}, ${this.mask(x)})`),
      () => this.define(ANY, `torch.index_select(${x}, 1, ${places()})`),
      () => this.define(X, `torch.masked_fill(${x}, ${this.mask(x)}, ${floatText(dice.number())})`),
      () => this.emit(`${done} = torch.index_put_(${x}, ${optionals(this.mask(x))}, ${scalar()})`),
      () =>
        this.emit(
          `${done} = torch.index_put_(${x}, ${optionals(isZero())}, ${dice.pick([scalar(), row])}, ${dice.pick(['True', 'False'])})`,
        ),
      () => this.emit(`${done} = torch.index_put_(${row}, ${optionals(places())}, ${scalar()}, ${dice.pick(['True', 'False'])})`),
      () => this.emit(`${done} = torch.index_put_(${x}, ${optionals('None', places())}, ${scalar()})`),
      () => this.emit(`${done} = torch.masked_fill_(${x}, ${this.mask(x)}, ${floatText(dice.number())})`),
      () => this.emit(`${done} = torch.copy_(torch.slice(${x}, 1, ${dice.between(0, 1)}, ${dice.between(2, 4)}), ${scalar()})`),
      () => this.emit(`${done} = torch.copy_(torch.select(${x}, 0, ${dice.pick([0, -1])}), ${row})`),
      () => this.emit(`${done} = torch.copy_(torch.select(${row}, 0, ${position()}), ${scalar()})`),
      () => this.define(SCALAR, `torch.select(${row}, 0, ${position()})`),
      () => this.define(ROW, `torch.select(${x}, 0, torch.remainder(${this.expression(INT, 2)}, torch.size(${x}, 0)))`),
      () => this.define(ANY, `torch.slice(${row}, 0, ${position()})`),
      () => this.define(ANY, `torch.slice(${x}, 1, 0, ${position()})`),
      () =>
        this.emit(
          `${done} = torch.index_add_(${row}, 0, torch.tensor([${dice.between(0, 3)}, ${dice.between(0, 3)}]), torch.stack([${scalar()}, ${scalar()}]))`,
        ),
      () => this.emit(`${done} = torch.index_fill_(${x}, 1, ${places()}, ${floatText(dice.number())})`),
      () => this.define(ANY, `torch.nonzero(${this.mask(x)})`),
      () => this.define(ROW, `(torch.sort(${row}))[0]`),
      () => this.define(ROW, `torch.gather(${row}, 0, torch.argsort(${row}))`),
      () => this.define(ROW, `torch.cumsum(${row}, 0)`),
      () => this.define(X, `torch.flip(${x}, [${dice.below(2)}])`),
      () => this.define(X, `torch.roll(${x}, [1], [${dice.below(2)}])`),
    ])()
  }

  /** An int that a tensor holds, or one that follows from it, which says where to read and to write. */
  private position(): void {
    const { dice } = this
    const x = this.place(X) ?? 'x'
    const row = this.place(ROW) ?? 'torch.select(x, 0, 0)'
    const element = (): string => `torch.select(${row}, 0, ${dice.below(COLUMNS)})`
    const source = dice.pick([
      element,
      element,
      () => `torch.select(torch.select(x, 0, 0), 0, ${dice.below(COLUMNS)})`,
      () => this.place(SCALAR) ?? element(),
    ])
    // most are in range
    const at = this.define(INT, `torch.remainder(int(${source()}), ${dice.pick([2, 2, 3, 3, 7])})`)
    const size = dice.between(1, 2)
    const end = dice.chance(0.5) ? `torch.add(${at}, ${size})` : this.define(INT, `torch.add(${at}, ${size})`)
    const part = (): string => `torch.slice(${this.expression(X, 2)}, 1, 0, ${size})`
    const done = `d${this.names++}`
    const uses: readonly (() => void)[] = [
      () => this.define(X, `torch.slice_scatter(${x}, ${part()}, 1, ${at}, ${end})`),
      () => this.emit(`${done} = torch.copy_(${x}, torch.slice_scatter(${x}, ${part()}, 1, ${at}, ${end}))`),
      () => this.emit(`${done} = torch.copy_(torch.slice(${x}, 1, ${at}, ${end}), ${part()})`),
      () => this.emit(`${done} = torch.copy_(torch.narrow(${row}, 0, ${at}, ${size}), ${this.expression(SCALAR, 2)})`),
      () => this.emit(`${done} = torch.copy_(torch.select(${row}, 0, ${at}), ${this.expression(SCALAR, 2)})`),
      () => this.define(ANY, `torch.slice(${x}, 1, ${at}, ${end})`),
      () => this.define(SCALAR, `torch.sum(torch.slice(${row}, 0, ${at}))`),
      () => this.define(SCALAR, `torch.select(${row}, 0, ${at})`),
      () => this.define(X, `torch.where(torch.le(torch.arange(${COLUMNS}), ${at}), ${x}, ${row})`),
      () => this.define(ROW, `torch.mul(torch.add(torch.arange(${COLUMNS}), ${end}), ${row})`),
      () => this.define(X, `torch.${dice.pick(['add', 'sub', 'mul'])}(${x}, ${at})`),
      () =>
        this.define(
          ROW,
          `torch.where(torch.${dice.pick(['eq', 'ne', 'lt', 'ge', 'gt'])}(${row}, ${at}), ${row}, ${this.expression(ROW, 2)})`,
        ),
    ]
    for (let i = dice.between(1, 3); i > 0; i--) dice.pick(uses)()
  }

  /** Operators whose result is of another dtype. */
  private convert(): void {
    const { dice } = this
    const extent = dice.pick(['x', 'row', 'scalar'] as const)
    const type: Type = { kind: 'Tensor', extent }
    const t = this.place(type) ?? this.literal(type)
    const others = extent === 'x' ? [X, ROW, SCALAR] : extent === 'row' ? [ROW, SCALAR] : [SCALAR]
    const other = (): string => this.expression(dice.pick(others), 2)
    const dtype = dice.pick([6, 6, 7, 4, 3, 11, 0, 5])
    this.define(
      type,
      dice.pick([
        () => `torch.to(${t}, ${dtype})`,
        () => `torch.to(${t}, ${dtype})`,
        () => `torch.gt(${t}, ${other()})`,
        () => `torch.eq(${t}, ${other()})`,
        () => `torch.type_as(${t}, ${other()})`,
        () => `torch.div(${t}, ${dice.pick(['2', '2.', other()])})`,
        () => `torch.floor_divide(${t}, ${dice.pick(['2', '2.'])})`,
        () => `torch.remainder(${t}, ${dice.pick(['3', '1.5'])})`,
        () => `torch.add(${t}, ${dice.pick(['1', '1.', 'True', other()])})`,
        () => `torch.mul(${t}, ${dice.pick(['2', '0.5', other()])})`,
        () => `torch.pow(${t}, ${dice.pick(['2', '2.'])})`,
        () => `torch.where(${this.mask(t)}, ${t}, ${other()})`,
        () => `torch.zeros_like(${t}, dtype=${dtype})`,
        () => `torch.clamp(${t}, ${dice.pick(['-1', '-1.5'])}, 2)`,
        () => `torch.logical_not(${t})`,
        () => `torch.bitwise_and(torch.to(${t}, 4), 3)`,
        () => `torch.copy_(${t}, ${other()})`,
        () => `torch.add_(${t}, ${other()})`,
        () => `torch.mul_(${t}, ${dice.pick(['2', '0.5', other()])})`,
        ...(extent === 'scalar'
          ? [() => `torch.sum(${this.mask('x')})`, () => `torch.tensor(${this.expression(dice.pick([INT, BOOL, FLOAT]), 2)})`]
          : []),
        ...(extent === 'row'
          ? [() => `torch.sum(${this.mask('x')}, [0])`, () => `torch.arange(${COLUMNS})`, () => `torch.zeros([${COLUMNS}], dtype=${dtype})`]
          : []),
      ])(),
    )
  }

  /** An error, now and then: state that was changed before it stays changed. */
  private fail(): void {
    const { dice } = this
    const condition = dice.chance(0.15) ? 'True' : this.condition()
    const then = this.within(() => {
      if (dice.chance(0.3)) this.statement()
      const name = `v${this.names++}`
      const x = this.place(X) ?? 'x'
      const held = (kind: 'List' | 'Dict'): string[] =>
        this.places().flatMap(({ type, text, list }) =>
          type.kind === kind && type.of.kind === 'Tensor' && list === undefined ? [text] : [],
        )
      const [lists, dicts] = [held('List'), held('Dict')]
      const raise = 'ops.prim.RaiseException("it is as it is")'
      const expression = dice.pick([
        () => null,
        () => null,
        () => `torch.select(${x}, 0, 7)`,
        () => `torch.view(${x}, [7, 7])`,
        () => `torch.mm(${x}, torch.cat([${x}, ${x}, ${x}, ${x}, ${x}]))`,
        () => `torch.tensor(float(torch.flatten(torch.cat([${x}, ${x}]))))`,
        () => `torch.tensor(torch.floordiv(1, torch.sub(torch.len([0]), 1)))`,
        () => `torch.add_(${x}, torch.zeros([2, 7, 4]))`,
        ...(lists.length === 0 ? [] : [() => `(${dice.pick(lists)})[77]`]),
        ...(dicts.length === 0 ? [] : [() => `(${dice.pick(dicts)})["z"]`]),
      ])()
      if (expression === null) this.emit(raise)
      else {
        this.emit(`${name} = ${expression}`)
        // PyTorch leaves out what nobody uses
        this.block.push({
          kind: 'if',
          condition: `bool(torch.gt(torch.sum(${name}), 1000.))`,
          then: [{ kind: 'line', text: raise }],
          other: [],
        })
      }
    })
    this.block.push({ kind: 'if', condition, then, other: [] })
  }

  private callObject(): void {
    const { dice } = this
    const objects = this.own.attributes.filter(({ type }) => typeof type === 'string')
    if (objects.length === 0) return this.defineNew()
    const { name, type } = dice.pick(objects)
    const method = this.known.find((k) => k.name === type)!.methods.find((m) => m.name === 'forward')!
    const args = method.parameters.map((p) => this.expression(p.type, 1))
    this.define(method.returns, `(self.${name}).forward(${args.join(', ')}, )`)
  }

  /** The sum of all tensors in a container. */
  private readAll(): void {
    const { dice } = this
    const found = this.places().filter(({ type, list }) => list === undefined && type.kind === 'List' && type.of.kind === 'Tensor')
    if (found.length === 0) return this.defineNew()
    const { text } = dice.pick(found)
    const total = this.define(SCALAR, 'torch.sum(x)')
    const index = `i${this.names++}`
    this.block.push({
      kind: 'for',
      head: `${index} in range(torch.len(${text}))`,
      body: [{ kind: 'line', text: `${total} = torch.add(${total}, torch.mul(torch.sum((${text})[${index}]), 0.5))` }],
    })
  }
}

function floatText(value: number): string {
  return Number.isInteger(value) ? `${value}.` : `${value}`
}
