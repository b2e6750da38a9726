import { after, describe } from 'node:test'
import { converseEverywhere, requestObjectsEverywhere } from './conversations.ts'
import { showMessagesOfErrors } from './failures.ts'
import { frameworks, olderFrameworks } from './frameworks.ts'
import { createPython, withoutPython } from './python.ts'

describe('frameworks for Python', { skip: withoutPython('newest') }, () => {
  const { pydanticAi, agentsSdk, smolagents } = frameworks
  const python = createPython('newest', [...pydanticAi, ...agentsSdk, ...smolagents])
  after(() => python[Symbol.asyncDispose]())
  converseEverywhere(python.clients)
  showMessagesOfErrors(python.clients)

  const structured = createPython('newest', [...pydanticAi, ...agentsSdk])
  after(() => structured[Symbol.asyncDispose]())
  requestObjectsEverywhere(structured.clients)
})

describe(
  'frameworks for Python with an older version of the official clients',
  { skip: withoutPython('older') },
  () => {
    const { litellm, llamaIndex, instructor } = olderFrameworks
    const python = createPython('older', [...litellm, ...llamaIndex])
    after(() => python[Symbol.asyncDispose]())
    converseEverywhere(python.clients)
    showMessagesOfErrors(python.clients)

    // `aresponses` of LiteLLM takes no class for the object. LlamaIndex does not stream objects in every dialect.
    const structured = createPython('older', [
      ...litellm.filter(({ dialect }) => dialect !== 'responses'),
      ...llamaIndex.filter(({ isStreaming }) => !isStreaming),
      ...instructor,
    ])
    after(() => structured[Symbol.asyncDispose]())
    requestObjectsEverywhere(structured.clients)
    showMessagesOfErrors(structured.clients.filter(({ name }) => name.startsWith('Instructor')))
  },
)
