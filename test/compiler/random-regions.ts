import { Float } from '../../runtime/tensor/scalar.js'
import { type Tensor } from '../../runtime/tensor/tensor.js'
import type { Value } from '../../runtime/tensor/value.js'
import { callOperator, PtliteError } from '../../src/index.js'
import { type Assembler, Builder, type Dice, diceOf, type RandomProgram, randomTensor } from './random-program.js'

const ATTRIBUTES = [[4], [3, 4]]
/** No sum that programs make comes near to it, however it is rounded. */
const THRESHOLD = new Float(0.12345)

/** A program that reads contents of tensors, draws random numbers, fills lists, writes to arguments and changes attributes of its object. */
export function randomRegions(seed: number): RandomProgram {
  return new RegionBuilder(diceOf(seed)).build()
}

class RegionBuilder extends Builder {
  private readonly seed: number
  /** Tensors in a list, by its register. */
  private readonly lists = new Map<number, number[]>()

  protected override readonly writesToInputs = 0.5

  constructor(random: Dice) {
    super(random)
    this.seed = random.below(1 << 30)
  }

  protected override makeAttributes(): Tensor[] {
    const dice = diceOf(this.seed)
    return ATTRIBUTES.map((shape) => randomTensor(dice, shape))
  }

  protected override tryStep(): void {
    const { random } = this
    if (!random.chance(0.3)) return super.tryStep()
    try {
      this.tryOther()
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
    }
  }

  private tryOther(): void {
    const { random } = this
    const a = this.pickTensor()
    const b = this.pickTensor()
    switch (random.below(9)) {
      case 0:
        return this.scaled(a, b)
      case 1:
        return this.masked(a)
      case 2:
        return this.branch(a, b)
      case 3:
        return this.getAttribute(random.below(ATTRIBUTES.length))
      case 4:
        return this.setAttribute(a)
      case 5:
        return this.list(a, b)
      case 6:
        return this.element()
      case 7:
        return this.noise(a)
      default:
        return this.loop(a)
    }
  }

  /** A step of several instructions that makes the tensor `made`. */
  private add(text: string, made: Tensor | null, code: (to: Assembler, tensor: number) => void): number {
    const tensor = made === null ? -1 : this.tensors.push(made) - 1
    const to = tensor < 0 ? [] : [tensor]
    this.steps.push({ op: text, args: [], to, unpack: false, code: (assembler) => code(assembler, tensor) })
    return tensor
  }

  private call(op: string, ...args: Value[]): Tensor | null {
    const made = callOperator(op, args as Parameters<typeof callOperator>[1]) as Tensor
    return made.numel === 0 || made.numel > 4096 ? null : made
  }

  private sum(a: number): number {
    return Number((callOperator('aten::sum', [this.tensors[a]!, null]) as Tensor).item())
  }

  private scaled(a: number, b: number): void {
    const made = this.call('aten::mul.Scalar', this.tensors[b]!, new Float(Math.sin(this.sum(a))))
    if (made === null) return
    const number = this.others++
    this.add(`%${b} * item(sin(sum(%${a})))`, made, (to, tensor) => {
      to.load(a)
      to.constant(null)
      to.call('aten::sum', 2)
      to.call('aten::sin', 1)
      to.call('aten::item', 1)
      to.storeOther(number)
      to.load(b)
      to.loadOther(number)
      to.call('aten::mul.Scalar', 2)
      to.store(tensor)
    })
  }

  private masked(a: number): void {
    const t = this.tensors[a]!
    const select = this.random.chance(0.5)
    const mask = callOperator('aten::gt.Scalar', [t, THRESHOLD]) as Tensor
    const made = select ? this.call('aten::masked_select', t, mask) : this.call('aten::index.Tensor', t, [mask])
    if (made === null) return
    this.add(`%${a}[%${a} > ${THRESHOLD.value}]`, made, (to, tensor) => {
      to.load(a)
      to.load(a)
      to.constant(THRESHOLD)
      to.call('aten::gt.Scalar', 2)
      if (select) to.call('aten::masked_select', 2)
      else {
        to.emit('LIST_CONSTRUCT', 0, 1)
        to.call('aten::index.Tensor', 2)
      }
      to.store(tensor)
    })
  }

  private branch(a: number, b: number): void {
    const made = this.call(this.sum(a) > THRESHOLD.value ? 'aten::tanh' : 'aten::neg', this.tensors[b]!)
    if (made === null) return
    this.add(`sum(%${a}) > ${THRESHOLD.value} ? tanh(%${b}) : neg(%${b})`, made, (to, tensor) => {
      to.load(a)
      to.constant(null)
      to.call('aten::sum', 2)
      to.constant(THRESHOLD)
      to.call('aten::gt.Scalar', 2)
      to.call('aten::Bool.Tensor', 1)
      to.emit('JF', 5)
      to.load(b)
      to.call('aten::tanh', 1)
      to.store(tensor)
      to.emit('JMP', 4)
      to.load(b)
      to.call('aten::neg', 1)
      to.store(tensor)
    })
  }

  private getAttribute(slot: number): void {
    this.add(`self.${slot}`, this.makeAttributes()[slot]!, (to, tensor) => {
      to.emit('LOAD', 1)
      to.emit('GET_ATTR', slot)
      to.store(tensor)
    })
  }

  /** The attribute keeps its shape, so that later calls find what they expect. */
  private setAttribute(a: number): void {
    const { shape, dtype } = this.tensors[a]!
    const slot = ATTRIBUTES.findIndex((like) => String(like) === String(shape))
    if (slot < 0 || dtype !== 'float32') return
    this.add(`self.${slot} = %${a}`, null, (to) => {
      to.emit('LOAD', 1)
      to.load(a)
      to.emit('SET_ATTR', slot)
    })
  }

  private list(a: number, b: number): void {
    const { random, lists } = this
    const old = random.chance(0.5) ? [...lists.keys()].at(-1) : undefined
    if (old !== undefined) {
      lists.get(old)!.push(a)
      this.add(`list ${old}.append(%${a})`, null, (to) => {
        to.loadOther(old)
        to.load(a)
        to.call('aten::append.t', 2)
        to.emit('DROP')
      })
      return
    }
    const list = this.others++
    lists.set(list, [a, b])
    this.add(`list ${list} = [%${a}, %${b}]`, null, (to) => {
      to.load(a)
      to.load(b)
      to.emit('LIST_CONSTRUCT', 0, 2)
      to.storeOther(list)
    })
  }

  private element(): void {
    const { random, lists } = this
    if (lists.size === 0) return
    const [list, items] = random.pick([...lists])
    const i = random.below(items.length)
    this.add(`list ${list}[${i}]`, this.tensors[items[i]!]!, (to, tensor) => {
      to.loadOther(list)
      to.constant(i)
      to.call('aten::__getitem__.t', 2)
      to.store(tensor)
    })
  }

  private noise(a: number): void {
    const { random } = this
    const made = this.call('aten::dropout', this.tensors[a]!, new Float(0.5), true)
    if (made === null) return
    const drops = random.chance(0.5)
    this.add(drops ? `dropout(%${a})` : `rand_like(%${a})`, made, (to, tensor) => {
      to.load(a)
      if (drops) {
        to.constant(new Float(0.5))
        to.constant(true)
        to.call('aten::dropout', 3)
      } else {
        for (let i = 0; i < 5; i++) to.constant(null)
        to.call('aten::rand_like', 6)
      }
      to.store(tensor)
    })
  }

  /** Three times: y = sin(y) * item(cos(sum(y))). */
  private loop(a: number): void {
    const made = this.call('aten::sin', this.tensors[a]!)
    if (made === null || made.dtype !== 'float32') return
    const [index, number] = [this.others++, this.others++]
    this.add(`three times from %${a}: y = sin(y) * item(cos(sum(y)))`, made, (to, tensor) => {
      to.load(a)
      to.store(tensor)
      to.constant(0)
      to.constant(3)
      to.constant(true)
      to.emit('LOOP', 15, 2)
      to.storeOther(index)
      to.load(tensor)
      to.constant(null)
      to.call('aten::sum', 2)
      to.call('aten::cos', 1)
      to.call('aten::item', 1)
      to.storeOther(number)
      to.load(tensor)
      to.call('aten::sin', 1)
      to.loadOther(number)
      to.call('aten::mul.Scalar', 2)
      to.store(tensor)
      to.constant(true)
      to.emit('JMP', -14)
    })
  }
}
