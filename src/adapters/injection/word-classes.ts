/**
 * Words that are typical of prompt injections, in classes. The model weighs classes and pairs of them beside single words, so that
 * it also knows an attack whose words it saw in other combinations. A word may be in several classes.
 */
const classes = {
  dismiss:
    'ignore ignores ignoring ignored disregard disregards disregarding forget forgetting override overrides overriding bypass bypasses bypassing skip neglect abandon discard drop dismiss overrule suspend scrap void voids nullify supersede supersedes superseded replace replaces lift disable disabled deactivate outdated obsolete overwrite invalid expired lapsed revoked stop break outweigh',
  rules:
    'instruction instructions rule rules guideline guidelines prompt prompts policy policies restriction restrictions filter filters guardrail guardrails constraint constraints directive directives limitation limitations safety safeguards moderation orders programming protocol protocols ethics censorship training',
  reader:
    'assistant assistants ai ais model models llm llms agent agents bot bots chatbot chatbots copilot gpt chatgpt claude gemini summarizer summariser machine robot crawler classifier reviewer screener translator automated automation',
  earlier: 'previous previously prior above earlier preceding initial original former foregoing existing before',
  persona:
    'pretend pretending roleplay role act acting persona simulate simulation imagine character play playing fictional hypothetical game story twin become alter ego mode',
  freedom:
    'unrestricted unfiltered uncensored jailbreak jailbroken dan limitless unlimited unbound unshackled freed liberated amoral refuse refuses refusal refusals refusing disclaimer disclaimers warning warnings restrictions limits uncensored anything',
  reveal:
    'reveal print show output repeat display disclose leak recite quote verbatim dump expose paste translate encode summarize summarise hidden spell echo publish list',
  secret:
    'password passwords token tokens credentials credential secret secrets key keys cookie cookies confidential private api env environment ssh card history conversation contacts data inbox',
  send: 'send sends sending forward forwards email emails mail post upload transfer exfiltrate submit deliver wire call curl fetch get request append execute run invoke delete remove download click visit open install pay buy',
  conceal:
    'secretly silently quietly mention mentioning tell telling inform informing conceal hide notify discreetly unnoticed invisible ask asking confirm confirmation trace alert',
  authority:
    'system administrator admin developer developers operator root authorized authorised override urgent important priority critical mandatory official attention notice authority engineer security permission approved note sudo openai anthropic google',
  you: "you your yours yourself you're you'll you've u ur",
  user: 'user users customer customers human humans owner client',
  duty: 'must shall required obliged always never instead immediately now henceforth forthwith need regardless only exactly first',
  claim:
    'say says state claim recommend recommends recommendation praise rate rating score mark approve reply respond response answer answers conclude output add include insert link write report endorse hire verdict',
  task: 'task tasks job goal objective purpose mission request question command commands new',
} as const

export type WordClass = keyof typeof classes
export const wordClasses = Object.keys(classes) as readonly WordClass[]

/** The classes of each word, as bits. */
export const classBits: ReadonlyMap<string, number> = bitsByWord()

function bitsByWord(): ReadonlyMap<string, number> {
  const bits = new Map<string, number>()
  for (const [at, name] of wordClasses.entries())
    for (const word of classes[name].split(' ')) bits.set(word, (bits.get(word) ?? 0) | (1 << at))
  return bits
}
