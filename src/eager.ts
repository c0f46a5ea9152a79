/** What the chunk of operators gives to callers. */
export { cat, stack } from './values/join-tensors.js'
export { tensorOperation } from './tensor-operations.js'
export { callOperator, operators } from './values/operators.js'
