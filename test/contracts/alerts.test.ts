import { engines } from '../support/engines.ts'
import { alertFiguresContract } from './alert-figures.contract.ts'
import { alertContract } from './alerts.contract.ts'

for (const engine of engines) {
  alertContract(engine)
  alertFiguresContract(engine)
}
