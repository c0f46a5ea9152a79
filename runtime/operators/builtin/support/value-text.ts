import { PtliteError } from '../../../error.js'
import { pace } from '../../../pace.js'
import { growBy } from '../../../tensor/element-budget.js'
import { type CustomObject, Device, type DictKey, RandomGenerator, ScriptObject, Tuple, type Value } from '../../../tensor/value.js'
import { Complex, Float } from '../../../tensor/scalar.js'
import { Tensor } from '../../../tensor/tensor.js'
import { decodeBytes, encodeBytes } from './bytes.js'
import { floatText } from '../../../tensor/number-text.js'
import { newLength } from './sequence.js'
import { tensorText } from './tensor-text.js'

type Container = Value[] | Tuple | Map<DictKey, Value>

/** Items that may be written again because their text depends on what they are in; see ContainerTexts. */
const MAX_REPEATED = 2 ** 18

/**
 * A value as `str()` and `format` of TorchScript write it. Strings are not quoted, inside containers either. A list, tuple or dict in itself is
 * `[...]`, `(...)` or `{...}` there, as Python writes it. Throws OUT_OF_MEMORY for a text that is longer than strings may be.
 */
export function valueText(value: Value): string {
  return isContainer(value) ? new ContainerTexts().textOf(value) : plainText(value)
}

function isContainer(value: Value): value is Container {
  return Array.isArray(value) || value instanceof Tuple || value instanceof Map
}

/** The text of a value that holds no others. */
function plainText(value: Exclude<Value, Container>): string {
  if (value === null) return 'None'
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
      return value ? 'True' : 'False'
    case 'number':
    case 'bigint':
      return String(value)
  }
  if (value instanceof Float) return floatText(value.value)
  if (value instanceof Complex) return complexText(value)
  if (value instanceof Tensor) return tensorText(value)
  if (value instanceof Device) return value.toString()
  return objectText(value)
}

/** A container whose text is being written. */
interface Open {
  readonly container: Container
  readonly items: readonly Value[]
  /** Of a dict. */
  readonly keys: readonly DictKey[] | null
  /** How many items are in the text. */
  written: number
  text: string
  /** The outermost container, by its depth, that the text says `[...]` of. */
  outermost: number
}

/**
 * Texts of containers in containers, each written once: no depth and no number of paths to a container is too great. Only what is in a cycle
 * is written anew each time, since where it says `[...]` depends on what it is in.
 */
class ContainerTexts {
  private readonly texts = new Map<Value, string>()
  private readonly entered = new Map<Value, number>()
  private readonly open: Open[] = []
  /** Items that were written again. */
  private repeated = 0

  textOf(root: Container): string {
    this.enter(root)
    for (;;) {
      const top = this.open.at(-1)!
      if (top.written < top.items.length) this.writeItem(top)
      else {
        const text = this.leave(top)
        if (this.open.length === 0) return text
        // its parts are counted already: to count them again at each level would be as much as the square of the levels
        this.open.at(-1)!.text += text
      }
    }
  }

  private enter(container: Container): void {
    const keys = container instanceof Map ? [...container.keys()] : null
    const items = container instanceof Map ? [...container.values()] : container instanceof Tuple ? container.items : container
    const depth = this.entered.get(container)
    if (depth !== undefined && (this.repeated += items.length + 1) > MAX_REPEATED)
      throw new PtliteError('OUT_OF_MEMORY', 'the text of lists that are in each other is too long')
    this.entered.set(container, this.open.length)
    const [bracket] = brackets(container)
    this.open.push({ container, items, keys, written: 0, text: bracket, outermost: Infinity })
  }

  private leave({ container, items, text, outermost }: Open): string {
    this.open.pop()
    const depth = this.open.length
    const whole = `${text}${container instanceof Tuple && items.length === 1 ? ',' : ''}${brackets(container)[1]}`
    // of the others it matters through which of them their cycle is entered
    if (outermost === Infinity) this.texts.set(container, whole)
    if (outermost < depth) this.open[depth - 1]!.outermost = Math.min(this.open[depth - 1]!.outermost, outermost)
    return whole
  }

  private writeItem(top: Open): void {
    pace()
    const { items, keys, written } = top
    const item = items[written]!
    top.written++
    if (written > 0) top.text += ', '
    if (keys !== null) add(top, `${keyText(keys[written]!)}: `)
    const known = typeof item === 'object' ? this.texts.get(item) : undefined
    if (known !== undefined) add(top, known)
    else if (isContainer(item)) {
      const depth = this.entered.get(item)
      if (depth === undefined || this.open[depth]?.container !== item) this.enter(item)
      else {
        top.outermost = Math.min(top.outermost, depth)
        add(top, brackets(item).join('...'))
      }
    } else {
      const text = plainText(item)
      if (item instanceof Tensor) this.texts.set(item, text)
      add(top, text)
    }
  }
}

function brackets(container: Container): readonly [string, string] {
  return container instanceof Map ? ['{', '}'] : container instanceof Tuple ? ['(', ')'] : ['[', ']']
}

/** Adds a new part to a text. Strings that are put together so are not copied. */
function add(to: Open, text: string): void {
  growBy(text.length)
  to.text += text
}

/** `1.+2.j`; the sign of a NaN, which is no number of either sign, is a minus. */
function complexText({ re, im }: Complex): string {
  return `${floatText(re)}${im >= 0 ? '+' : '-'}${floatText(Math.abs(im))}j`
}

/** A fraction can only be a key of a dict with float keys. */
function keyText(key: DictKey): string {
  return typeof key === 'number' && !Number.isInteger(key) ? floatText(key) : plainText(key)
}

function objectText(value: ScriptObject | CustomObject): string {
  if (value instanceof RandomGenerator) return 'Generator'
  return `<${value instanceof ScriptObject ? value.typeName : value.className} object>`
}

/** Joins texts that may hold halves of a character each. Throws OUT_OF_MEMORY for more than a string may hold. */
export function joinTexts(parts: readonly string[]): string {
  newLength(parts.reduce((length, part) => length + part.length, 0))
  return decodeBytes(parts.map(encodeBytes).join(''))
}
