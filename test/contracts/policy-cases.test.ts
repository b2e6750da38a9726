import { engines } from '../support/engines.ts'
import { policyCaseContract } from './policy-cases.contract.ts'

for (const engine of engines) policyCaseContract(engine)
