// The 15 sandbox categories. Offers, coupons and promotions build their descriptions from these words.

export interface Category {
  readonly name: string;
  /** Suffixes for shop names: "Quillmere Books". */
  readonly trade: readonly string[];
  /** Products, worded to follow "10% off all …". */
  readonly goods: readonly string[];
  /** Promotion headlines, in the same order as the `goods` that they advertise. */
  readonly headlines: readonly string[];
  /** Products without cashback, worded to follow "No cashback on …". */
  readonly exclusions: readonly string[];
  /** Typical order value, in euros. */
  readonly orderValue: readonly [min: number, max: number];
  /** Typical cashback, in percent. */
  readonly percent: readonly [min: number, max: number];
}

export const CATEGORIES: readonly Category[] = [
  {
    name: 'Books & Music',
    trade: ['Books', 'Bookshop', 'Records', 'Pages', 'Press'],
    goods: ['novels', 'cookbooks', 'vinyl records', 'picture books', 'audiobooks', 'sheet music'],
    headlines: ['Long-weekend reads', 'Signed editions week', 'Vinyl Friday', 'Story time'],
    exclusions: ['e-books', 'textbooks', 'subscriptions', 'books with a fixed price'],
    orderValue: [12, 90],
    percent: [2, 8],
  },
  {
    name: 'Beauty',
    trade: ['Beauty', 'Cosmetics', 'Skin', 'Apothecary', 'Perfumery'],
    goods: ['skincare', 'perfume', 'make-up', 'hair care', 'sun care', 'gift sets'],
    headlines: ['Glow week', 'Fragrance days', 'The big make-up edit', 'Good hair weeks'],
    exclusions: ['limited editions', 'refills', 'salon appointments', 'sample boxes'],
    orderValue: [18, 140],
    percent: [4, 14],
  },
  {
    name: 'DIY & Tools',
    trade: ['Tools', 'Hardware', 'Workshop', 'Builders', 'Supply'],
    goods: ['flooring', 'power tools', 'paint and varnish', 'bathroom fittings', 'hand tools', 'workwear'],
    headlines: ['Renovation month', 'Cordless days', 'Paint your weekend', 'Bathroom weeks'],
    exclusions: ['timber cut to size', 'hire equipment', 'spare parts', 'trade accounts'],
    orderValue: [25, 380],
    percent: [2, 7],
  },
  {
    name: 'Electronics',
    trade: ['Electronics', 'Digital', 'Audio', 'Tech', 'Devices'],
    goods: ['monitors', 'headphones', 'smart home devices', 'laptops', 'tablets', 'cameras'],
    headlines: ['Back to desk', 'Sound sale', 'Smart living days', 'Student weeks'],
    exclusions: ['pre-orders', 'mobile contracts', 'games consoles', 'refurbished items'],
    orderValue: [40, 1200],
    percent: [1, 5],
  },
  {
    name: 'Fashion',
    trade: ['Clothing', 'Studio', 'Atelier', 'Outfitters', 'Wardrobe'],
    goods: ['coats and jackets', 'denim', 'knitwear', 'dresses', 'shirts', 'linen'],
    headlines: ['Coat season', 'Denim days', 'Knit weeks', 'Party edit'],
    exclusions: ['designer collaborations', 'outlet items', 'made-to-measure orders', 'alterations'],
    orderValue: [35, 260],
    percent: [4, 12],
  },
  {
    name: 'Food & Drink',
    trade: ['Kitchen', 'Pantry', 'Roasters', 'Cellars', 'Larder'],
    goods: ['coffee beans', 'wine cases', 'olive oil', 'chocolate', 'tea', 'recipe boxes'],
    headlines: ['Breakfast club', 'Cellar clear-out', 'Harvest week', 'Sweet tooth days'],
    exclusions: ['spirits', 'bottle deposits', 'delivery passes', 'tasting tickets'],
    orderValue: [20, 130],
    percent: [2, 10],
  },
  {
    name: 'Garden',
    trade: ['Garden', 'Nurseries', 'Seeds', 'Greenhouse', 'Orchard'],
    goods: ['roses', 'spring bulbs', 'garden furniture', 'vegetable seeds', 'planters', 'watering systems'],
    headlines: ['Planting weekend', 'Bulb season', 'Patio days', 'Grow your own'],
    exclusions: ['living trees', 'turf', 'delivery by lorry', 'garden planning'],
    orderValue: [22, 320],
    percent: [3, 10],
  },
  {
    name: 'Gifts & Flowers',
    trade: ['Flowers', 'Gifts', 'Bouquets', 'Paper', 'Keepsakes'],
    goods: ['bouquets', 'candles', 'greeting cards', 'hampers', 'letterbox flowers', 'engraved gifts'],
    headlines: ['Say it with tulips', 'Candlelight week', 'Thank-you days', 'Early-bird gifting'],
    exclusions: ['same-day delivery', 'wedding orders', 'funeral flowers', 'greeting card credit'],
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
    headlines: ['Immune season', 'Vision days', 'Sleep well weeks', 'Stronger together'],
    exclusions: ['prescription items', 'infant formula', 'eye tests', 'medical devices'],
    orderValue: [18, 110],
    percent: [3, 12],
  },
  {
    name: 'Home & Living',
    trade: ['Home', 'Interiors', 'Furniture', 'Living', 'Lighting'],
    goods: ['bed linen', 'sofas', 'lamps', 'cookware', 'rugs', 'shelving'],
    headlines: ['White weeks', 'Sofa event', 'Lights on', 'Kitchen favourites'],
    exclusions: ['mattresses', 'made-to-order furniture', 'assembly services', 'fabric samples'],
    orderValue: [30, 850],
    percent: [2, 9],
  },
  {
    name: 'Pets',
    trade: ['Pets', 'Pet Supply', 'Paws', 'Kennels', 'Aquatics'],
    goods: ['dog beds', 'dog food', 'bird seed', 'chew toys', 'cat litter', 'aquariums'],
    headlines: ['Puppy starter week', 'Refill your pantry', 'Garden birds week', 'Treat Tuesday'],
    exclusions: ['veterinary diets', 'live animals', 'repeat deliveries', 'grooming appointments'],
    orderValue: [20, 140],
    percent: [3, 9],
  },
  {
    name: 'Shoes',
    trade: ['Shoes', 'Footwear', 'Bootmakers', 'Soles', 'Leather'],
    goods: ['ankle boots', 'trainers', "children's shoes", 'hiking boots', 'sandals', 'leather bags'],
    headlines: ['Boot event', 'Trainer drop', 'Back-to-school days', 'Summit weeks'],
    exclusions: ['limited releases', 'shoe care', 'repairs', 'outlet items'],
    orderValue: [40, 220],
    percent: [4, 11],
  },
  {
    name: 'Sports & Outdoor',
    trade: ['Sports', 'Outdoor', 'Cycles', 'Alpine', 'Running'],
    goods: ['running gear', 'tents', 'ski wear', 'bicycles', 'yoga mats', 'rucksacks'],
    headlines: ['Marathon countdown', 'Camping clear-out', 'Winter kit early access', 'Ride to work weeks'],
    exclusions: ['e-bikes', 'race entries', 'ski passes', 'team orders'],
    orderValue: [30, 420],
    percent: [3, 9],
  },
  {
    name: 'Toys & Kids',
    trade: ['Toys', 'Nursery', 'Playroom', 'Kids', 'Games'],
    goods: ['board games', 'puzzles', 'building sets', 'baby clothes', 'pushchairs', 'wooden toys'],
    headlines: ['Rainy-day games', 'Puzzle week', 'Little builders', 'First wardrobe'],
    exclusions: ['car seats', 'infant formula', 'trading cards', 'gift registries'],
    orderValue: [22, 210],
    percent: [3, 10],
  },
  {
    name: 'Travel',
    trade: ['Travel', 'Stays', 'Journeys', 'Voyages', 'Escapes'],
    goods: ['family holidays', 'city breaks', 'hotel stays', 'train passes', 'car hire', 'ferry tickets'],
    headlines: ['Early-bird summer', 'City break sale', 'Last-minute weekends', 'Rail days'],
    exclusions: [
      'taxes and airport fees',
      'bookings that are cancelled',
      'travel insurance',
      'group bookings',
    ],
    orderValue: [80, 1900],
    percent: [1, 6],
  },
];

export function getCategory(name: string): Category {
  const found = CATEGORIES.find((category) => category.name === name);
  if (found === undefined) throw new Error(`unknown sandbox category ${name}`);
  return found;
}
