import { engines } from '../support/engines.ts'
import { backtestContract } from './backtests.contract.ts'

for (const engine of engines) backtestContract(engine)
