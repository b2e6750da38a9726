import { engines } from '../support/engines.ts'
import { judgesContract } from './judges.contract.ts'

for (const engine of engines) judgesContract(engine)
