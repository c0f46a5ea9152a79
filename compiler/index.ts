export { type CompileMode, type PlanInfo, TieredModule } from './tier.js'
