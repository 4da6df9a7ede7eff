// The 15 sandbox categories: name parts, goods, exclusions and price ranges. The generators of offers, coupons and
// promotions build their descriptions from these words.

export interface Category {
  readonly name: string;
  /** Suffixes for shop names: "Quillmere Books". */
  readonly trade: readonly string[];
  /** Products, worded to follow "10% off all …". */
  readonly goods: readonly string[];
  /** Products without cashback, worded to follow "No cashback on …". */
  readonly exclusions: readonly string[];
  /** Promotion headlines, each with the goods it covers. */
  readonly occasions: readonly { readonly headline: string; readonly goods: string }[];
  /** Typical order value, in euros. */
  readonly orderValue: readonly [min: number, max: number];
  /** Typical cashback, in percent. */
  readonly percent: readonly [min: number, max: number];
}

export const CATEGORIES: readonly Category[] = [
  {
    name: 'Books & Music',
    trade: ['Books', 'Bookshop', 'Records', 'Pages', 'Press'],
    goods: ['novels', 'cookbooks', 'audiobooks', 'vinyl records', 'sheet music', 'picture books'],
    exclusions: ['e-books', 'textbooks', 'subscriptions', 'books with a fixed price'],
    occasions: [
      { headline: 'Long-weekend reads', goods: 'novels' },
      { headline: 'Signed editions week', goods: 'cookbooks' },
      { headline: 'Vinyl Friday', goods: 'vinyl records' },
      { headline: 'Story time', goods: 'picture books' },
    ],
    orderValue: [12, 90],
    percent: [2, 8],
  },
  {
    name: 'Beauty',
    trade: ['Beauty', 'Cosmetics', 'Skin', 'Apothecary', 'Perfumery'],
    goods: ['skincare', 'make-up', 'perfume', 'hair care', 'sun care', 'gift sets'],
    exclusions: ['limited editions', 'refills', 'salon appointments', 'sample boxes'],
    occasions: [
      { headline: 'Glow week', goods: 'skincare' },
      { headline: 'Fragrance days', goods: 'perfume' },
      { headline: 'The big make-up edit', goods: 'make-up' },
      { headline: 'Good hair weeks', goods: 'hair care' },
    ],
    orderValue: [18, 140],
    percent: [4, 14],
  },
  {
    name: 'DIY & Tools',
    trade: ['Tools', 'Hardware', 'Workshop', 'Builders', 'Supply'],
    goods: ['power tools', 'hand tools', 'paint and varnish', 'bathroom fittings', 'flooring', 'workwear'],
    exclusions: ['timber cut to size', 'hire equipment', 'spare parts', 'trade accounts'],
    occasions: [
      { headline: 'Renovation month', goods: 'flooring' },
      { headline: 'Cordless days', goods: 'power tools' },
      { headline: 'Paint your weekend', goods: 'paint and varnish' },
      { headline: 'Bathroom weeks', goods: 'bathroom fittings' },
    ],
    orderValue: [25, 380],
    percent: [2, 7],
  },
  {
    name: 'Electronics',
    trade: ['Electronics', 'Digital', 'Audio', 'Tech', 'Devices'],
    goods: ['headphones', 'laptops', 'tablets', 'smart home devices', 'cameras', 'monitors'],
    exclusions: ['pre-orders', 'mobile contracts', 'games consoles', 'refurbished items'],
    occasions: [
      { headline: 'Back to desk', goods: 'monitors' },
      { headline: 'Sound sale', goods: 'headphones' },
      { headline: 'Smart living days', goods: 'smart home devices' },
      { headline: 'Student weeks', goods: 'laptops' },
    ],
    orderValue: [40, 1200],
    percent: [1, 5],
  },
  {
    name: 'Fashion',
    trade: ['Clothing', 'Studio', 'Atelier', 'Outfitters', 'Wardrobe'],
    goods: ['dresses', 'knitwear', 'denim', 'coats and jackets', 'shirts', 'linen'],
    exclusions: ['designer collaborations', 'outlet items', 'made-to-measure orders', 'alterations'],
    occasions: [
      { headline: 'Coat season', goods: 'coats and jackets' },
      { headline: 'Denim days', goods: 'denim' },
      { headline: 'Knit weeks', goods: 'knitwear' },
      { headline: 'Party edit', goods: 'dresses' },
    ],
    orderValue: [35, 260],
    percent: [4, 12],
  },
  {
    name: 'Food & Drink',
    trade: ['Kitchen', 'Pantry', 'Roasters', 'Cellars', 'Larder'],
    goods: ['coffee beans', 'wine cases', 'olive oil', 'tea', 'chocolate', 'recipe boxes'],
    exclusions: ['spirits', 'bottle deposits', 'delivery passes', 'tasting tickets'],
    occasions: [
      { headline: 'Breakfast club', goods: 'coffee beans' },
      { headline: 'Cellar clear-out', goods: 'wine cases' },
      { headline: 'Harvest week', goods: 'olive oil' },
      { headline: 'Sweet tooth days', goods: 'chocolate' },
    ],
    orderValue: [20, 130],
    percent: [2, 10],
  },
  {
    name: 'Garden',
    trade: ['Garden', 'Nurseries', 'Seeds', 'Greenhouse', 'Orchard'],
    goods: ['garden furniture', 'roses', 'vegetable seeds', 'planters', 'watering systems', 'spring bulbs'],
    exclusions: ['living trees', 'turf', 'delivery by lorry', 'garden planning'],
    occasions: [
      { headline: 'Planting weekend', goods: 'roses' },
      { headline: 'Bulb season', goods: 'spring bulbs' },
      { headline: 'Patio days', goods: 'garden furniture' },
      { headline: 'Grow your own', goods: 'vegetable seeds' },
    ],
    orderValue: [22, 320],
    percent: [3, 10],
  },
  {
    name: 'Gifts & Flowers',
    trade: ['Flowers', 'Gifts', 'Bouquets', 'Paper', 'Keepsakes'],
    goods: ['bouquets', 'letterbox flowers', 'greeting cards', 'hampers', 'candles', 'engraved gifts'],
    exclusions: ['same-day delivery', 'wedding orders', 'funeral flowers', 'greeting card credit'],
    occasions: [
      { headline: 'Say it with tulips', goods: 'bouquets' },
      { headline: 'Candlelight week', goods: 'candles' },
      { headline: 'Thank-you days', goods: 'greeting cards' },
      { headline: 'Early-bird gifting', goods: 'hampers' },
    ],
    orderValue: [20, 95],
    percent: [5, 15],
  },
  {
    name: 'Health',
    trade: ['Pharmacy', 'Wellness', 'Vitamins', 'Optics', 'Care'],
    goods: [
      'vitamins',
      'contact lenses',
      'sleep aids',
      'protein powder',
      'first-aid kits',
      'natural remedies',
    ],
    exclusions: ['prescription items', 'infant formula', 'eye tests', 'medical devices'],
    occasions: [
      { headline: 'Immune season', goods: 'vitamins' },
      { headline: 'Vision days', goods: 'contact lenses' },
      { headline: 'Sleep well weeks', goods: 'sleep aids' },
      { headline: 'Stronger together', goods: 'protein powder' },
    ],
    orderValue: [18, 110],
    percent: [3, 12],
  },
  {
    name: 'Home & Living',
    trade: ['Home', 'Interiors', 'Furniture', 'Living', 'Lighting'],
    goods: ['sofas', 'bed linen', 'lamps', 'rugs', 'cookware', 'shelving'],
    exclusions: ['mattresses', 'made-to-order furniture', 'assembly services', 'fabric samples'],
    occasions: [
      { headline: 'White weeks', goods: 'bed linen' },
      { headline: 'Sofa event', goods: 'sofas' },
      { headline: 'Lights on', goods: 'lamps' },
      { headline: 'Kitchen favourites', goods: 'cookware' },
    ],
    orderValue: [30, 850],
    percent: [2, 9],
  },
  {
    name: 'Pets',
    trade: ['Pets', 'Pet Supply', 'Paws', 'Kennels', 'Aquatics'],
    goods: ['dog food', 'cat litter', 'aquariums', 'dog beds', 'bird seed', 'chew toys'],
    exclusions: ['veterinary diets', 'live animals', 'repeat deliveries', 'grooming appointments'],
    occasions: [
      { headline: 'Puppy starter week', goods: 'dog beds' },
      { headline: 'Refill your pantry', goods: 'dog food' },
      { headline: 'Garden birds week', goods: 'bird seed' },
      { headline: 'Treat Tuesday', goods: 'chew toys' },
    ],
    orderValue: [20, 140],
    percent: [3, 9],
  },
  {
    name: 'Shoes',
    trade: ['Shoes', 'Footwear', 'Bootmakers', 'Soles', 'Leather'],
    goods: ['trainers', 'ankle boots', 'sandals', 'hiking boots', "children's shoes", 'leather bags'],
    exclusions: ['limited releases', 'shoe care', 'repairs', 'outlet items'],
    occasions: [
      { headline: 'Boot event', goods: 'ankle boots' },
      { headline: 'Trainer drop', goods: 'trainers' },
      { headline: 'Back-to-school days', goods: "children's shoes" },
      { headline: 'Summit weeks', goods: 'hiking boots' },
    ],
    orderValue: [40, 220],
    percent: [4, 11],
  },
  {
    name: 'Sports & Outdoor',
    trade: ['Sports', 'Outdoor', 'Cycles', 'Alpine', 'Running'],
    goods: ['running gear', 'tents', 'bicycles', 'yoga mats', 'ski wear', 'rucksacks'],
    exclusions: ['e-bikes', 'race entries', 'ski passes', 'team orders'],
    occasions: [
      { headline: 'Marathon countdown', goods: 'running gear' },
      { headline: 'Camping clear-out', goods: 'tents' },
      { headline: 'Winter kit early access', goods: 'ski wear' },
      { headline: 'Ride to work weeks', goods: 'bicycles' },
    ],
    orderValue: [30, 420],
    percent: [3, 9],
  },
  {
    name: 'Toys & Kids',
    trade: ['Toys', 'Nursery', 'Playroom', 'Kids', 'Games'],
    goods: ['building sets', 'board games', 'pushchairs', 'wooden toys', 'baby clothes', 'puzzles'],
    exclusions: ['car seats', 'infant formula', 'trading cards', 'gift registries'],
    occasions: [
      { headline: 'Rainy-day games', goods: 'board games' },
      { headline: 'Puzzle week', goods: 'puzzles' },
      { headline: 'Little builders', goods: 'building sets' },
      { headline: 'First wardrobe', goods: 'baby clothes' },
    ],
    orderValue: [22, 210],
    percent: [3, 10],
  },
  {
    name: 'Travel',
    trade: ['Travel', 'Stays', 'Journeys', 'Voyages', 'Escapes'],
    goods: ['city breaks', 'hotel stays', 'train passes', 'car hire', 'family holidays', 'ferry tickets'],
    exclusions: [
      'taxes and airport fees',
      'bookings that are cancelled',
      'travel insurance',
      'group bookings',
    ],
    occasions: [
      { headline: 'Early-bird summer', goods: 'family holidays' },
      { headline: 'City break sale', goods: 'city breaks' },
      { headline: 'Last-minute weekends', goods: 'hotel stays' },
      { headline: 'Rail days', goods: 'train passes' },
    ],
    orderValue: [80, 1900],
    percent: [1, 6],
  },
];

const BY_NAME = new Map(CATEGORIES.map((category) => [category.name, category]));

export function getCategory(name: string): Category {
  const found = BY_NAME.get(name);
  if (found === undefined) throw new Error(`the sandbox does not know the category ${name}`);
  return found;
}
