/** What the chunk of all operators gives to those who add operators. */
export * as custom from './custom.js'
export { registerOperator } from './register-operator.js'
