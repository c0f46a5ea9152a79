import { BOOL, FLOAT, INT, isTuple, onceForEach, STR, TENSOR, type Type } from './types.js'

/** Expressions that compare two values. */
interface Order {
  readonly less: (a: string, b: string) => string
  readonly same: (a: string, b: string) => string
}

/**
 * TorchScript that sorts a list of `element` in place: its function `sort(v, reverse)`. It takes the steps of PyTorch's library of C++ (introsort: quicksort by the
 * median of three, heapsort where that goes too deep, insertion at the end), so that elements of which neither is less come in the same order. `hasMethod` says
 * whether a class has `__lt__`. undefined for elements that have no order.
 */
export function sortText(element: Type, hasMethod: (type: Type) => boolean): ((namespace: string) => string) | undefined {
  const isOrdered = onceForEach((type): boolean => {
    if (type.kind === 'class') return hasMethod(type)
    return isTuple(type) ? type.args.every((arg) => isOrdered(arg)) : [INT, FLOAT, BOOL, STR, TENSOR].includes(type)
  })
  if (!isOrdered(element)) return undefined
  return (namespace) => {
    const helpers: string[] = []
    const orderOf: (type: Type) => Order = onceForEach((type) => orderBy(type, namespace, helpers, orderOf))
    const order = orderOf(element)
    return helpers.join('') + steps(namespace, element.text, order)
  }
}

/** How values of a type are compared; functions for that are added to `helpers`. `orderOf` says it of its parts. */
function orderBy(type: Type, namespace: string, helpers: string[], orderOf: (type: Type) => Order): Order {
  if (type === BOOL) return { less: (a, b) => `int(${a}) < int(${b})`, same: (a, b) => `${a} == ${b}` }
  if (type === TENSOR) return { less: (a, b) => `bool(${a} < ${b})`, same: (a, b) => `bool(${a} == ${b})` }
  if (type.kind !== 'class' && !isTuple(type)) return { less: (a, b) => `${a} < ${b}`, same: (a, b) => `${a} == ${b}` }
  const elements = isTuple(type) ? type.args.map((arg) => orderOf(arg)) : []
  const number = helpers.length
  const define = (name: string, body: string): void => {
    helpers.push(`def ${name}${number}(a: ${type.text}, b: ${type.text}) -> bool:\n${body}`)
  }
  const order: Order = {
    less: (a, b) => `${namespace}.less${number}(${a}, ${b})`,
    same: (a, b) => (type.kind === 'class' ? `${a} is ${b}` : `${namespace}.same${number}(${a}, ${b})`),
  }
  if (type.kind === 'class') {
    define('less', `  if a is b:\n    return False\n  return a.__lt__(b)\n`)
    return order
  }
  const each = (write: (inner: Order, a: string, b: string) => string): string =>
    elements.map((inner, i) => write(inner, `a[${i}]`, `b[${i}]`)).join('')
  const differs = (inner: Order, a: string, b: string): string => `  if not ${inner.same(a, b)}:\n    return False\n`
  define('less', each((inner, a, b) => `  if ${inner.less(a, b)}:\n    return True\n${differs(inner, a, b)}`) + '  return False\n')
  define('same', each(differs) + '  return True\n')
  return order
}

const steps = (namespace: string, element: string, { less }: Order): string => `
def before(a: ${element}, b: ${element}, reverse: bool) -> bool:
  if reverse:
    return ${less('b', 'a')}
  return ${less('a', 'b')}
def insert(v: List[${element}], at: int, reverse: bool) -> None:
  value = v[at]
  while at > 0 and ${namespace}.before(value, v[at - 1], reverse):
    v[at] = v[at - 1]
    at = at - 1
  v[at] = value
def partition(v: List[${element}], first: int, last: int, reverse: bool) -> int:
  a = v[first + 1]
  b = v[first + (last - first) // 2]
  c = v[last - 1]
  middle = first + (last - first) // 2
  if ${namespace}.before(a, b, reverse):
    if not ${namespace}.before(b, c, reverse):
      if ${namespace}.before(a, c, reverse):
        middle = last - 1
      else:
        middle = first + 1
  elif ${namespace}.before(a, c, reverse):
    middle = first + 1
  elif ${namespace}.before(b, c, reverse):
    middle = last - 1
  pivot = v[middle]
  v[middle] = v[first]
  v[first] = pivot
  low = first + 1
  high = last - 1
  apart = True
  while apart:
    while low < last and ${namespace}.before(v[low], pivot, reverse):
      low = low + 1
    while high > first and ${namespace}.before(pivot, v[high], reverse):
      high = high - 1
    apart = low < high
    if apart:
      value = v[low]
      v[low] = v[high]
      v[high] = value
      low = low + 1
      high = high - 1
  return low
def sift(v: List[${element}], first: int, top: int, count: int, value: ${element}, reverse: bool) -> None:
  hole = top
  child = top
  while child < (count - 1) // 2:
    child = 2 * (child + 1)
    if ${namespace}.before(v[first + child], v[first + child - 1], reverse):
      child = child - 1
    v[first + hole] = v[first + child]
    hole = child
  if count % 2 == 0 and child == (count - 2) // 2:
    child = 2 * child + 1
    v[first + hole] = v[first + child]
    hole = child
  while hole > top and ${namespace}.before(v[first + (hole - 1) // 2], value, reverse):
    v[first + hole] = v[first + (hole - 1) // 2]
    hole = (hole - 1) // 2
  v[first + hole] = value
def heap(v: List[${element}], first: int, last: int, reverse: bool) -> None:
  parent = (last - first - 2) // 2
  while parent >= 0:
    ${namespace}.sift(v, first, parent, last - first, v[first + parent], reverse)
    parent = parent - 1
  while last - first > 1:
    last = last - 1
    value = v[last]
    v[last] = v[first]
    ${namespace}.sift(v, first, 0, last - first, value, reverse)
def sort(v: List[${element}], reverse: bool) -> None:
  depth = 0
  size = len(v)
  while size > 1:
    size = size // 2
    depth = depth + 2
  ranges = [(0, len(v), depth)]
  while len(ranges) > 0:
    first, last, left = ranges.pop()
    while last - first > 16:
      if left == 0:
        ${namespace}.heap(v, first, last, reverse)
        last = first
      else:
        left = left - 1
        cut = ${namespace}.partition(v, first, last, reverse)
        ranges.append((first, cut, left))
        first = cut
  for i in range(1, len(v)):
    ${namespace}.insert(v, i, reverse)
`
