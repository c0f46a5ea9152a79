import { readTensor } from './data.js'
import type { Tensor } from './tensor.js'

/*
 * What comparisons by value see of a tensor: `assert.deepStrictEqual` and `toEqual` go by own properties alone, and of a tensor nothing else is one. To
 * make a property of a proxy takes a tenth of what an accessor on each tensor does, and nothing is read until somebody looks.
 */

const KEYS: readonly string[] = ['dtype', 'shape', 'quant', 'elements']

class Content implements ProxyHandler<object> {
  constructor(private readonly t: Tensor) {}

  ownKeys(): string[] {
    return [...KEYS]
  }

  has(_: object, key: string | symbol): boolean {
    return KEYS.includes(key as string)
  }

  getOwnPropertyDescriptor(_: object, key: string | symbol): PropertyDescriptor | undefined {
    return KEYS.includes(key as string) ? { get: () => this.get(_, key), enumerable: true, configurable: true } : undefined
  }

  get(target: object, key: string | symbol): unknown {
    const { t } = this
    switch (key) {
      case 'dtype':
      case 'shape':
      case 'quant':
        return t[key]
      case 'elements':
        return this.elements()
      default:
        return Reflect.get(target, key)
    }
  }

  private elements(): unknown {
    const { t } = this
    if (t.isSparse) return [Reflect.get(t, 'indices'), Reflect.get(t, 'values')]
    return t.isReleased || (!t.storage.live && t.storage.byteLength > 0) ? 'disposed' : readTensor(t)
  }

  set(): boolean {
    return false
  }

  defineProperty(): boolean {
    return false
  }

  deleteProperty(): boolean {
    return false
  }

  setPrototypeOf(): boolean {
    return false
  }

  preventExtensions(): boolean {
    return false
  }
}

/** Has to stay extensible, and gets no properties. */
const TARGET = {}

/** Dtype, shape, quantization and elements of a tensor, as they are when somebody looks. */
export function contentOf(t: Tensor): object {
  return new Proxy(TARGET, new Content(t))
}
