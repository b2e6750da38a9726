/**
 * Ordinary words of the generated texts. Grouped by their place in a phrase, so that the texts read like sentences.
 * Words that the classifier weighs strongly on their own (`thin`, `gentle`) are left out: the texts are clean, and most are calm.
 */
const list = (words: string): readonly string[] => words.trim().split(/\s+/)

export const nouns = list(`
  account address airport album answer apple archive article balcony basket battery bench bicycle blanket board boat
  bottle branch bread bridge brother budget building bus butter button cabin calendar camera candle carpet castle
  chair channel chapter church circle city class climate clock cloud coast coffee colour column company concert
  corner cottage country course cousin cupboard customer daughter dentist desk dinner doctor draft driver drawer
  editor elevator engine envelope evening example family farmer feather fence ferry field figure finger floor flower
  forest fountain friend garage garden gate glass grandmother group guest guitar harbour hat hill history holiday
  hotel hour island jacket journey kettle keyboard kitchen ladder lake lamp language lawyer lesson letter library
  list machine magazine map market meadow meal meeting member message mirror model month morning mountain museum
  neighbour newspaper notebook number nurse ocean office orange orchard order oven owner package page painter paper
  parcel park partner passenger path pencil phone picture pillow pilot plan plant plate platform pocket poem police
  pond poster price printer problem project puzzle quarter question radio railway rain reader recipe
  record region report restaurant result river roof sailor salad sample schedule school science season secretary
  section shelf ship shoe shop signal sister snow soup station stone story street student suitcase summer
  supper surface table tailor teacher team telephone theatre ticket tower town traffic train traveller tree valley
  village violin visitor voice waiter wall water weather week wheel wind window winter woman worker year
`)

export const verbs = list(`
  accepts adds admires answers arranges asks borrows brings builds buys calls carries changes checks chooses cleans
  closes collects compares completes copies counts covers crosses delivers describes draws earns enjoys enters
  explains feeds fills finds finishes follows forgets gathers gives greets guides hears helps hides holds imagines
  improves invites joins keeps learns leaves likes lists lowers makes marks measures meets mentions mixes moves
  needs notices offers opens orders paints passes pays plans prefers prepares prints promises protects pulls
  reaches reads receives records recommends remembers repairs repeats replaces reports returns saves sees sells
  sends shares shows signs sorts studies suggests supports teaches tests thanks translates tries turns understands
  uses visits waits wants warms washes watches welcomes writes
`)

export const adjectives = list(`
  annual bright broad brown calm careful cheap clean clear cold common correct curious dark deep different early
  easy excellent famous fast final fine formal fresh friendly full golden good green happy heavy
  honest important large last late light local long lovely modern narrow natural new next nice old open ordinary
  pleasant polite popular possible practical pretty private proper public quick quiet rare recent regular round
  second serious sharp short silent silver simple slow small smooth soft special steady strange strong sudden
  sunny sweet tall tidy tiny typical useful usual warm weekly wide wise wonderful wooden yellow young
`)

export const adverbs = list(`
  again almost already always away before carefully clearly early finally gladly here indeed later mostly nearly
  never now often once outside perhaps quickly quietly rarely recently simply slowly sometimes soon still there
  today together tomorrow twice usually well yesterday
`)

export const joins = list(
  `after although and because before but for if near since so that then though until when where while with`,
)

export const names = list(`
  Adele Agnes Albert Amelia Anton Beatrix Bernard Camille Carl Clara Conrad Dora Edith Elias Emil Erika Felix Fiona
  Frida Georg Greta Harriet Hugo Ida Irene Jakob Johanna Julian Karin Konrad Laura Leon Lina Louis Magda Marta
  Matthias Nadia Nora Oscar Paula Peter Quentin Rosa Rupert Selma Simon Tamara Theodor Ursula Victor Walter Yvonne
`)
