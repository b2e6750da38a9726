import { engines } from '../support/engines.ts'
import { overviewPeriodContract } from './overview-period.contract.ts'

for (const engine of engines) overviewPeriodContract(engine)
