import Type from 'typebox'
import { entry, section } from './section.ts'

export const Policies = section(
  {
    judge: Type.Optional(
      entry(
        {
          model: Type.String({
            minLength: 1,
            description:
              'A name of the catalogue. A small model that answers at once: one that thinks first finds no room for its answer.',
          }),
          timeout_ms: Type.Integer({
            default: 5_000,
            minimum: 1,
            description: 'Longest a call may take. It waits for its turn for six times that at most.',
          }),
          rephrase_timeout_ms: Type.Integer({
            default: 30_000,
            minimum: 1,
            description: 'Longest that writing a text anew may take (`rewrite` and `summary` of the gateway).',
          }),
          fail: Type.Enum(['closed', 'open'], {
            default: 'closed',
            description:
              'What a rule does that should have been judged and was not: an enforcing one refuses, or lets the text pass.',
          }),
          max_usd_per_day: Type.Number({
            default: 10,
            minimum: 0,
            description:
              'What its calls may cost in a UTC day, by the model’s prices, counted on each node from its start. Over it nothing is judged.',
          }),
          max_concurrent: Type.Integer({ default: 8, minimum: 1, description: 'Calls under way at once.' }),
          remembered_verdicts: Type.Integer({
            default: 10_000,
            minimum: 0,
            description: 'Verdicts that are kept, by version and text, so that the same is not asked twice.',
          }),
        },
        'The model that judges rules in plain language. Without it they are held to what they name.',
      ),
    ),
    expression_time_ms: Type.Integer({
      default: 250,
      minimum: 1,
      description:
        'Processor time that an expression may take for one text, beside its cost limit. Over it the rule has not been evaluated (`expression_time`), which an enforcing policy refuses.',
    }),
  },
  'How the rules of policies are judged.',
)

export const Moderation = section(
  {
    classifier: Type.Object(
      {
        kind: Type.Enum(['embedded', 'openai'], {
          default: 'embedded',
          description:
            'The model that comes with the program; or that one and, for what it is not sure of, a moderation endpoint.',
        }),
        base_url: Type.Optional(
          Type.String({ pattern: '^https?://', description: 'Address of the endpoint, up to `/moderations`.' }),
        ),
        api_key: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'Its key; take it from a variable or a file: `${NAME}`, `${file:/path}`.',
          }),
        ),
        model: Type.String({ default: 'omni-moderation-latest', minLength: 1, description: 'Its model.' }),
        timeout_ms: Type.Integer({
          default: 2_000,
          minimum: 1,
          description: 'Longest wait for it; then the embedded model decides alone, on the side of caution.',
        }),
        max_concurrent: Type.Integer({ default: 16, minimum: 1, description: 'Calls under way at once.' }),
      },
      {
        additionalProperties: false,
        default: {},
        shorthand: 'kind',
        description: 'Who scores texts in the moderation categories. `classifier: embedded` is short for its `kind`.',
      },
    ),
    crisis_message: Type.String({
      default:
        'This was not sent on. If you are thinking about harming yourself, you do not have to face it alone: in an emergency call your local emergency number, and find someone to talk to, free and in confidence, at https://findahelpline.com.',
      minLength: 1,
      maxLength: 1000,
      description:
        'What callers are told whose request is blocked for self-harm. Name help that is near to your users.',
    }),
    restore_redacted: Type.Boolean({
      default: false,
      description:
        'Where a gateway configuration redacts: give callers their own personal data back where the model repeats its placeholder.',
    }),
  },
  'How texts are classified, and what becomes of some of them.',
)
