/** Operators whose result depends on when they run. */
const CHANGING = new Set(['prim::TimePoint', 'aten::seed', 'aten::initial_seed', 'aten::manual_seed', 'aten::_get_tracing_state'])

/** Operators without results that leave nothing behind. */
const TIMELESS = new Set(['prim::RaiseException', 'aten::_assert_async', 'aten::record_stream', 'aten::set_grad_enabled', 'aten::_set_grad_enabled'])

export function changesEveryTime(name: string): boolean {
  return CHANGING.has(name)
}

/** An operator without results may be left out of a replay: lists it changed belong to the run. */
export function isTimeless(name: string): boolean {
  return TIMELESS.has(name) || LIST_OPERATORS.test(name)
}

const LIST_OPERATORS = /^aten::(append|extend|insert|reverse|sort|clear|remove|_set_item|Delete|update|setdefault|pop|popitem|set_data)\b/
