/** What the chunk of plans gives. */
export { loadPlans } from './load-plans.js'
