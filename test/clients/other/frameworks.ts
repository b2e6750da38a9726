import type { CallerFormat } from '../../../src/domain/inference/formats.ts'
import type { PythonClient } from './python.ts'

type Framework = Pick<PythonClient, 'module' | 'showsThinking' | 'showsUsage' | 'onRefusal'> & {
  readonly name: string
  readonly dialects: readonly CallerFormat[]
  /** What the framework calls its requests for a whole response and for a stream. */
  readonly modes: readonly [whole: string, stream: string]
}

const clientsOf = ({ name, dialects, modes, ...framework }: Framework): PythonClient[] =>
  dialects.flatMap((dialect) =>
    modes.map((mode) => ({
      ...framework,
      name: `${name}, ${dialect}, ${mode}`,
      dialect,
      mode,
      isStreaming: mode === modes[1],
    })),
  )

const allDialects = ['messages', 'chat', 'responses'] as const

/** Frameworks for Python that accept the newest version of the official clients. */
export const frameworks = {
  pydanticAi: clientsOf({
    name: 'Pydantic AI',
    module: 'pydantic_ai_client',
    dialects: allDialects,
    modes: ['run', 'run_stream'],
    showsThinking: true,
    onRefusal: 'may raise',
  }),
  agentsSdk: clientsOf({
    name: 'OpenAI Agents SDK',
    module: 'agents_client',
    dialects: ['chat', 'responses'],
    modes: ['run', 'run_streamed'],
    showsThinking: true,
    onRefusal: 'may raise',
  }),
  smolagents: clientsOf({
    name: 'smolagents',
    module: 'smolagents_client',
    dialects: ['chat'],
    modes: ['generate', 'generate_stream'],
    showsThinking: false,
    onRefusal: 'hides',
  }),
} as const

/** Frameworks for Python that need an older version of them. */
export const olderFrameworks = {
  litellm: clientsOf({
    name: 'LiteLLM',
    module: 'litellm_client',
    dialects: allDialects,
    modes: ['whole', 'raw stream'],
    showsThinking: true,
    onRefusal: 'hides',
  }),
  llamaIndex: clientsOf({
    name: 'LlamaIndex',
    module: 'llama_index_client',
    dialects: allDialects,
    modes: ['chat', 'stream'],
    showsThinking: true,
    showsUsage: false,
    onRefusal: 'hides',
  }),
  instructor: clientsOf({
    name: 'Instructor',
    module: 'instructor_client',
    dialects: allDialects,
    modes: ['create', 'create_partial'],
    showsThinking: false,
    onRefusal: 'hides',
  }),
} as const
