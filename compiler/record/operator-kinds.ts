/** Operators whose result depends on when they run. */
const CHANGING = new Set(['prim::TimePoint', 'aten::seed', 'aten::initial_seed', 'aten::manual_seed', 'aten::_get_tracing_state'])

/** Operators without results that leave nothing behind. */
const TIMELESS = new Set([
  'prim::RaiseException',
  'aten::_assert_async',
  'aten::record_stream',
  'aten::set_grad_enabled',
  'aten::_set_grad_enabled',
])

export function changesEveryTime(name: string): boolean {
  return CHANGING.has(name)
}

/** An operator without results may be left out of a replay: lists it changed belong to the run. */
export function isTimeless(name: string): boolean {
  return TIMELESS.has(name) || LIST_OPERATORS.test(name)
}

/** Operators that read data for numbers of their own, which decide neither shapes nor dtypes of their results. */
const INNER_READS = /^quantized::\w+_dynamic$|^quantized::quantized_(lstm|gru)\w*|^aten::binary_cross_entropy$/

/** True where a replay may call the operator although it reads the contents of tensors. */
export function readsForItself(qualifiedName: string): boolean {
  return INNER_READS.test(qualifiedName.split('.')[0]!)
}

const RESHAPING = /^aten::(unsqueeze_|squeeze_|t_|transpose_|swapaxes_|swapdims_)(\.\w+)?$/

/** The operator that makes the view which this one turns its argument into; null for all others. */
export function viewOperator(qualifiedName: string): string | null {
  return RESHAPING.test(qualifiedName) ? qualifiedName.replace(/_(\.|$)/, '$1') : null
}

const LIST_OPERATORS = /^aten::(append|extend|insert|reverse|sort|clear|remove|_set_item|Delete|update|setdefault|pop|popitem|set_data)\b/
