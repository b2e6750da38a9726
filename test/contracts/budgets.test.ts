import { engines } from '../support/engines.ts'
import { budgetContract } from './budgets.contract.ts'

for (const engine of engines) budgetContract(engine)
