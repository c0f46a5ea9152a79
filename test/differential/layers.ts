import { type Dice, diceOf } from './dice.js'
import type { Action, Attribute, Call, Program, Statement, StorageSpec, TensorSpec } from './program.js'
import { ANY, INT, tupleOf, X } from './types.js'

/** The family of programs with linear layers, convolutions and embeddings, whose matrices and filters are large enough to be rounded. */
export const LAYERS = 'layers'

const WIDTHS = [32, 40, 48, 64, 72]
const ROWS = [1, 2, 3, 5, 9, 20]
const TOKENS = 24

/** A program of layers one after the other, by a seed. What it computes does not branch on data, which rounding changes. */
export function layersProgram(seed: number): Program {
  return new Layers(diceOf(seed, LAYERS)).program(seed)
}

class Layers {
  private readonly attributes: Attribute[] = []
  private readonly storages: StorageSpec[] = []
  private names = 0

  constructor(private readonly dice: Dice) {}

  program(seed: number): Program {
    const { dice } = this
    const width = dice.pick(WIDTHS)
    const table = this.attribute([TOKENS, width])
    const body: Statement[] = [line('v0', dice.chance(0.5) ? `torch.add(x, ${embedded(table)})` : 'x')]
    const results = ['v0']
    let [last, size] = ['v0', width]
    for (let count = dice.between(2, 5); count > 0; count--) {
      const name = this.name('v')
      if (size === width && dice.chance(0.2)) {
        body.push(line(name, `torch.linear(${last}, ${this.matrix(size, size)}, ${this.bias(size)})`), this.repeated(name, size))
      } else if (dice.chance(0.2)) {
        const weight = this.matrix(size, size)
        const then = [line(name, `torch.tanh(torch.linear(${last}, ${weight}, ${this.bias(size)}))`)]
        body.push({ kind: 'if', condition: 'torch.gt(more, 1)', then, other: [line(name, `torch.relu(torch.matmul(${last}, ${weight}))`)] })
      } else if (dice.chance(0.3)) {
        const next = dice.pick([size, ...WIDTHS])
        body.push(...this.convolution(name, last, size, next))
        size = next
      } else {
        const next = dice.pick([size, ...WIDTHS])
        body.push(line(name, this.finished(this.layer(last, size, next), last, size, next)))
        size = next
      }
      last = name
      results.push(name)
    }
    if (dice.chance(0.3) && size === width) {
      const scores = this.name('v')
      body.push(line(scores, `torch.linear(${last}, ${table}, None)`))
      last = scores
    }
    if (dice.chance(0.15)) body.push(line(this.name('v'), `torch.mul_(${dice.pick(this.attributes.map((a) => `self.${a.name}`))}, 0.75)`))
    const result = `(${last}, ${dice.pick(results)})`
    return {
      family: LAYERS,
      seed,
      namedTuples: [],
      classes: [
        {
          name: 'M',
          attributes: this.attributes,
          methods: [
            {
              name: 'forward',
              parameters: [
                { name: 'x', type: X },
                { name: 'tokens', type: ANY },
                { name: 'more', type: INT },
              ],
              returns: tupleOf(X, X),
              body,
              result,
            },
          ],
        },
      ],
      storages: this.storages,
      calls: Array.from({ length: 8 }, () => this.call(width)),
      looks: 'last',
    }
  }

  private layer(input: string, size: number, next: number): string {
    const { dice } = this
    switch (dice.between(0, 5)) {
      case 0:
        return `torch.matmul(${input}, ${this.matrix(size, next)})`
      case 1:
        return `torch.matmul(${input}, torch.t(${this.matrix(next, size)}))`
      case 2:
        return `torch.addmm(${this.attribute([next])}, ${input}, torch.t(${this.matrix(next, size)})${dice.pick(['', ', beta=0.5', ', alpha=0.75'])})`
      case 3:
        return `torch.squeeze(torch.linear(torch.unsqueeze(${input}, 0), ${this.matrix(next, size)}, ${this.bias(next)}), 0)`
      default:
        return `torch.linear(${input}, ${this.matrix(next, size)}, ${this.bias(next)})`
    }
  }

  /** A convolution over rows, which are pixels of an image or of a signal, and what becomes of its result. */
  private convolution(name: string, input: string, size: number, next: number): Statement[] {
    const { dice } = this
    const isImage = dice.chance(0.6)
    const taps = dice.pick([1, 1, 3])
    const image = this.name('v')
    const signal = `torch.unsqueeze(torch.t(${input}), 0)`
    const list = (first: number, second: number): string => (isImage ? `[${first}, ${second}]` : `[${first}]`)
    // in groups it stays as it is
    const groups = dice.chance(0.15) && size % 2 === 0 && next % 2 === 0 ? 2 : 1
    const filter = this.attribute([next, size / groups, taps, ...(isImage ? [1] : [])])
    const settings = `${list(1, 1)}, ${list((taps - 1) / 2, 0)}, ${list(1, 1)}, ${groups}`
    const convolved = `torch.conv${isImage ? 2 : 1}d(${image}, ${filter}, ${this.bias(next)}, ${settings})`
    const factors = (): string => this.attribute(isImage ? [next, 1, 1] : [next, 1])
    const normed = `torch.batch_norm(${convolved}, ${this.attribute([next])}, None, ${this.attribute([next])}, torch.ones([${next}]), False, 0.1, 0.00001, False)`
    const steps = [`torch.relu(${normed})`, normed, `torch.relu6(${convolved})`, `torch.mul(${convolved}, ${factors()})`, convolved]
    const step = dice.pick(steps)
    const whole = size === next && dice.chance(0.4) ? `torch.relu(torch.add(${step}, ${image}))` : step
    return [
      line(image, isImage ? `torch.unsqueeze(${signal}, 3)` : signal),
      line(name, `torch.t(torch.squeeze(${isImage ? `torch.squeeze(${whole}, 3)` : whole}, 0))`),
    ]
  }

  /** What becomes of a layer's result. */
  private finished(text: string, input: string, size: number, next: number): string {
    const { dice } = this
    const step = dice.pick([
      () => `torch.relu(${text})`,
      () => `torch.tanh(${text})`,
      () => `torch.clamp(${text}, -1., 1.)`,
      () => `torch.sigmoid(${text})`,
      () => `torch.mul(${text}, ${this.attribute([next])})`,
      () => `torch.mul(${text}, 0.75)`,
      () =>
        `torch.batch_norm(${text}, ${this.attribute([next])}, None, ${this.attribute([next])}, torch.ones([${next}]), False, 0.1, 0.00001, False)`,
      () => text,
    ])()
    return size === next && dice.chance(0.4) ? `torch.add(${step}, ${input})` : step
  }

  private repeated(name: string, size: number): Statement {
    const body = [line(name, `torch.tanh(torch.linear(${name}, ${this.matrix(size, size)}, ${this.bias(size)}))`)]
    return { kind: 'for', head: `_${this.name('i')} in range(more)`, body }
  }

  /** A new matrix, or one of these sizes that is there. */
  private matrix(rows: number, columns: number): string {
    const known = this.attributes.filter(({ value }) => {
      const { shape } = value as TensorSpec
      return shape.length === 2 && shape[0] === rows && shape[1] === columns
    })
    return known.length > 0 && this.dice.chance(0.3) ? `self.${this.dice.pick(known).name}` : this.attribute([rows, columns])
  }

  private bias(size: number): string {
    return this.dice.chance(0.7) ? this.attribute([size]) : 'None'
  }

  private attribute(shape: readonly number[]): string {
    const { dice } = this
    const count = shape.reduce((product, n) => product * n, 1)
    const data = Array.from({ length: count }, () => dice.between(-127, 127) / 512)
    const name = this.name('a')
    const storage = this.storages.push({ dtype: 'float32', data }) - 1
    const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, n) => product * n, 1))
    this.attributes.push({ name, type: 'Tensor', value: { storage, shape, strides, offset: 0, id: storage } })
    return `self.${name}`
  }

  private call(width: number): Call {
    const { dice } = this
    const rows = dice.pick(ROWS)
    const after: Action[] = []
    if (dice.chance(0.05)) after.push({ kind: 'write', of: 'attribute', tensor: dice.between(0, this.attributes.length - 1) })
    return {
      method: 'forward',
      storages: [
        { dtype: 'float32', data: Array.from({ length: rows * width }, () => dice.number()) },
        { dtype: 'int64', data: Array.from({ length: rows }, () => dice.between(0, TOKENS - 1)) },
      ],
      args: [
        { storage: 0, shape: [rows, width], strides: [width, 1], offset: 0 },
        { storage: 1, shape: [rows], strides: [1], offset: 0 },
        { int: dice.between(1, 2) },
      ],
      after,
    }
  }

  private name(letter: string): string {
    return `${letter}${++this.names}`
  }
}

const embedded = (table: string): string => `torch.embedding(${table}, tokens)`

function line(name: string, text: string): Statement {
  return { kind: 'line', text: `${name} = ${text}` }
}
