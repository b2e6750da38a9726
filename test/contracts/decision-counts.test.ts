import { engines } from '../support/engines.ts'
import { decisionCountContract } from './decision-counts.contract.ts'

for (const engine of engines) decisionCountContract(engine)
