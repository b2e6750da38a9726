import { engines } from '../support/engines.ts'
import { publishGateContract } from './publish-gate.contract.ts'

for (const engine of engines) publishGateContract(engine)
