import { engines } from '../support/engines.ts'
import { savedViewContract } from './saved-views.contract.ts'

for (const engine of engines) savedViewContract(engine)
