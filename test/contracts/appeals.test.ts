import { engines } from '../support/engines.ts'
import { appealContract } from './appeals.contract.ts'

for (const engine of engines) appealContract(engine)
