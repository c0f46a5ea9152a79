import type { Tensor } from '../../runtime/tensor/tensor.js'
import { type Container, type DictKey, listType, setListType, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { NumberSource } from './region-number.js'
import { itemsOf, keysOf, kindOf, type StateParts, tensorAt } from './state-signature.js'

/** How to make a list, tuple or dict. */
export interface ContainerTemplate {
  readonly kind: 'container'
  readonly of: 'list' | 'tuple' | 'dict'
  readonly fields: readonly string[] | undefined
  /** Of an empty list. */
  readonly elements: string | undefined
  readonly keys: readonly DictKey[]
  readonly items: readonly Template[]
}

/** How to make a value at the end of a region. */
export type Template =
  /** The same each time. */
  | { readonly kind: 'value'; readonly value: Value }
  /** A number that may be another one each time. */
  | NumberSource
  /** Tensor number `index` of the state at the start, or of those that the prologue has made behind them. */
  | { readonly kind: 'input'; readonly index: number }
  /** List, tuple or dict number `index` of the state at the start. */
  | { readonly kind: 'given'; readonly index: number }
  /** Tensor that the graph returns. */
  | { readonly kind: 'output'; readonly index: number }
  | ContainerTemplate

/** A template for a container with other items; null where one of them has none. */
export function containerTemplate(like: Container, describe: (item: Value) => Template | null): ContainerTemplate | null {
  const keys = keysOf(like)
  if (keys.some((key) => typeof key === 'object')) return null
  const items: Template[] = []
  for (const item of itemsOf(like)) {
    const template = describe(item)
    if (template === null) return null
    items.push(template)
  }
  const fields = like instanceof Tuple ? like.fields : undefined
  return { kind: 'container', of: kindOf(like), fields, elements: Array.isArray(like) ? listType(like) : undefined, keys, items }
}

/** Makes the values of one state: what a template stands for is made once, however often it occurs. */
export class Maker {
  private readonly made = new Map<Template, Value>()

  constructor(
    private readonly start: StateParts,
    private readonly outputs: readonly Tensor[],
  ) {}

  make(template: Template): Value {
    switch (template.kind) {
      case 'value':
        return template.value
      case 'int':
        return this.start.ints[template.index]!
      case 'computed':
        return this.start.computed[template.index]!
      case 'input':
        return tensorAt(this.start, template.index)
      case 'given':
        return this.start.containers[template.index]!
      case 'output':
        return this.outputs[template.index]!
      case 'container': {
        let value = this.made.get(template)
        if (value === undefined) this.made.set(template, (value = this.contain(template)))
        return value
      }
    }
  }

  private contain(template: ContainerTemplate): Container {
    const { of, keys, fields, elements } = template
    const items = template.items.map((item) => this.make(item))
    if (of === 'tuple') return new Tuple(items, fields)
    if (of === 'dict') return new Map(keys.map((key, i) => [key, items[i]!]))
    if (elements !== undefined) setListType(items, elements)
    return items
  }

  /** Gives a list or dict of the start the contents that it has at the end. */
  change(index: number, { keys, items }: ContainerTemplate): void {
    const container = this.start.containers[index]!
    const values = items.map((item) => this.make(item))
    if (container instanceof Map) {
      container.clear()
      keys.forEach((key, i) => container.set(key, values[i]!))
    } else if (Array.isArray(container)) container.splice(0, container.length, ...values)
  }
}
