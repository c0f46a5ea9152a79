/** What the chunk of plans gives. */
export { planAhead } from './plan-ahead.js'
export { loadPlans } from './load-plans.js'
