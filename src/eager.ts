/** What the chunk of operators gives to callers. */
export * from './values/generated/tensor-functions.js'
export { tensorOperation } from './values/tensor-operations.js'
export { callOperator, operators } from './values/operators.js'
